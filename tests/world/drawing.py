"""Small maps for tests, drawn as text: ``#`` blocks, ``.`` can be walked on; shapes are given in tiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from localville.world.places import Town
from localville.world.tiled import load_town

SIDE = 16
Drawing = dict[str, Any]

HOUSE = """
.........
.#######.
.#..#..#.
.#..#..#.
.##.##.#.
.........
"""
"""Two rooms of 2 × 2 tiles, each with a door to the south, in a house of 7 × 4 tiles."""


def shape(name: str, x: float, y: float, width: float = 1, height: float = 1, **more: Any) -> Drawing:
    """An object in tiles; what is not a field of Tiled's objects becomes a custom property."""
    fields = {"polygon", "ellipse", "point", "rotation", "gid", "polyline", "text", "template"}
    item = {"id": 0, "name": name, "x": x * SIDE, "y": y * SIDE, "width": width * SIDE, "height": height * SIDE}
    item |= {key: value for key, value in more.items() if key in fields}
    kind = {int: "int", bool: "bool", float: "float"}
    item["properties"] = [
        {"name": key, "type": kind.get(type(value), "string"), "value": value}
        for key, value in more.items()
        if key not in fields
    ]
    return item


def draw(
    plan: str,
    *,
    sectors: list[Drawing] | None = None,
    arenas: list[Drawing] | None = None,
    objects: list[Drawing] | None = None,
    spawns: list[Drawing] | None = None,
) -> Drawing:
    """A whole map; objects are numbered from 1 in the order sectors, arenas, objects, spawns."""
    rows = plan.split()
    blocked = [int(sign == "#") for row in rows for sign in row]
    size = {"width": len(rows[0]), "height": len(rows)}
    layers: list[Drawing] = [{"id": 1, "name": "collision", "type": "tilelayer", "data": blocked, **size}]
    number = 0
    for name, items in (("sectors", sectors), ("arenas", arenas), ("objects", objects), ("spawns", spawns)):
        for item in items or []:
            number += 1
            item["id"] = number
        layers.append({"id": len(layers) + 1, "name": name, "type": "objectgroup", "objects": items or []})
    tileset = {"firstgid": 1, "name": "marks", "tilecount": 1, "columns": 1, "tilewidth": SIDE, "tileheight": SIDE}
    head = {"orientation": "orthogonal", "infinite": False, "tilewidth": SIDE, "tileheight": SIDE, "type": "map"}
    return {**head, **size, "layers": layers, "tilesets": [tileset], "properties": []}


def house(**changes: list[Drawing]) -> Drawing:
    """The house as a map: sector ``House``, arenas ``kitchen`` with a stove and ``study`` with a desk."""
    parts = {
        "sectors": [shape("House", 1, 1, 7, 4)],
        "arenas": [shape("kitchen", 2, 2, 2, 2), shape("study", 5, 2, 2, 2)],
        "objects": [shape("stove", 2, 2, idle="off", affords="cooking"), shape("desk", 5, 2)],
    }
    return draw(HOUSE, **{**parts, **changes})


def layer(drawing: Drawing, name: str) -> Drawing:
    return next(layer for layer in drawing["layers"] if layer["name"] == name)


def save(folder: Path, drawing: Drawing, name: str = "small") -> Path:
    path = folder / f"{name}.tmj"
    path.write_text(json.dumps(drawing), encoding="utf-8")
    return path


def load(folder: Path, drawing: Drawing) -> Town:
    return load_town(save(folder, drawing))
