"""Draws the tiles and writes the map: ``python maps/build.py`` (``--check``: compares with the files that are there).

Out come `town.png` (the tile sheet), `town.tsj` (the tileset), `hobbs.tmj` (the map) and `docs/hobbs.png` (a picture).
The art is our own, drawn by `tiles.py` and `sprites.py`, and free for any use (CC0).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import hobbs
import numpy as np
from garden import GARDEN
from paint import SIDE
from pictures import Picture, draw_map, from_png, to_png
from rooms import ROOMS
from sprites import KITCHENS
from tiles import BLOCKED, fabric

MAPS = Path(__file__).parent
COLUMNS = 16
WALLS = {"C": "cafe", "D": "dorm", "A": "apartment", "L": "library", "h": "hedge"}
FLOORS = {"w": "planks", "k": "kitchen", "b": "bathroom", "m": "carpet", "p": "parquet"}
SHADING = "CDAL"
BLOCKING = "CDALh~"
SPRITES = {**KITCHENS, **ROOMS, **GARDEN}


class Sheet:
    """Collects tiles by name and numbers them from 1 in the order of their first use; equal tiles share a number."""

    def __init__(self) -> None:
        self.tiles: list[Picture] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, tile: Picture) -> int:
        key = tile.tobytes()
        if not tile[..., 3].any():
            return 0
        if key not in self._numbers:
            self.tiles.append(tile)
            self._numbers[key] = len(self.tiles)
        return self._numbers[key]

    def picture(self) -> Picture:
        rows = -(-len(self.tiles) // COLUMNS)
        sheet = np.zeros((rows * SIDE, COLUMNS * SIDE, 4), np.uint8)
        for at, tile in enumerate(self.tiles):
            row, column = divmod(at, COLUMNS)
            sheet[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE] = tile
        return sheet


def structure(sheet: Sheet, plan: list[str]) -> tuple[Any, Any, Any]:
    """The numbers of the ground, wall and collision layers: int[height, width] each."""
    height, width = len(plan), len(plan[0])
    ground, walls, collision = (np.zeros((height, width), np.int64) for _ in range(3))

    def joins(x: int, y: int, signs: str) -> int:
        """Which neighbours (north 1, east 2, south 4, west 8) show one of the signs; the map's rim joins on."""
        beside = ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))
        found = (not (0 <= a < width and 0 <= b < height) or plan[b][a] in signs for a, b in beside)
        return sum(1 << bit for bit, hit in enumerate(found) if hit)

    for y, row in enumerate(plan):
        for x, sign in enumerate(row):
            if sign in FLOORS or sign == "+":
                # A doorway lies on the floor of the room that it leads to.
                beside = ((x, y - 1), (x, y + 1), (x - 1, y))
                below = next((plan[b][a] for a, b in beside if plan[b][a] in FLOORS), "w")
                ground[y, x] = sheet.number(fabric(FLOORS[below if sign == "+" else sign], x, y))
            elif sign in ",~":
                kind, signs = ("path", ",+") if sign == "," else ("water", "~")
                ground[y, x] = sheet.number(fabric(kind, x, y, joins(x, y, signs)))
            else:
                ground[y, x] = sheet.number(fabric("grass", x, y))
            if sign in WALLS:
                walls[y, x] = sheet.number(fabric(WALLS[sign], x, y, joins(x, y, sign)))
            if sign in FLOORS or sign == "+":
                if sign == "+":
                    tile = fabric("doorway", x, y, joins(x, y, SHADING))
                else:
                    tile = fabric("shade", x, y, joins(x, y, SHADING) & 9)
                walls[y, x] = sheet.number(tile)
            if sign in BLOCKING:
                collision[y, x] = sheet.number(BLOCKED)
    return ground, walls, collision


def furnish(sheet: Sheet, items: Iterable[hobbs.Item], collision: Any) -> list[Any]:
    """The numbers of the furniture layers; marks in ``collision`` where furniture blocks the way."""
    layers = [np.zeros_like(collision)]
    # From north to south, so that what stands further south is drawn over what stands behind it.
    for item in sorted(items, key=lambda item: (item.y, item.x)):
        sprite = SPRITES[item.sprite]
        rows, columns = sprite.picture.shape[0] // SIDE, sprite.picture.shape[1] // SIDE
        for row in range(rows):
            for column in range(columns):
                x, y = item.x + column, item.y + row - sprite.over
                tile = sprite.picture[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
                number = sheet.number(tile)
                if number:
                    if all(layer[y, x] for layer in layers):
                        layers.append(np.zeros_like(collision))
                    next(layer for layer in layers if not layer[y, x])[y, x] = number
                if row >= sprite.over and not sprite.open(column, row - sprite.over):
                    collision[y, x] = sheet.number(BLOCKED)
    return layers


def write_map(sheet: Sheet) -> dict[str, Any]:
    """The whole map as Tiled's JSON."""
    ground, walls, collision = structure(sheet, hobbs.PLAN)
    furniture = furnish(sheet, hobbs.ITEMS, collision)
    ids = iter(range(1, 10_000))

    def tile_layer(number: int, name: str, data: Any, visible: bool = True) -> dict[str, Any]:
        height, width = data.shape
        base = {"id": number, "name": name, "type": "tilelayer", "visible": visible, "opacity": 1, "x": 0, "y": 0}
        return {**base, "width": width, "height": height, "data": data.ravel().tolist()}

    def thing(name: str, x: int, y: int, size: tuple[int, int], notes: Mapping[str, str | int]) -> dict[str, Any]:
        properties = [
            {"name": key, "type": "int" if isinstance(value, int) else "string", "value": value}
            for key, value in sorted(notes.items())
        ]
        box = {"x": x * SIDE, "y": y * SIDE, "width": size[0] * SIDE, "height": size[1] * SIDE}
        base = {"id": next(ids), "name": name, "type": "", "rotation": 0, "visible": True, **box}
        return {**base, "properties": properties} if properties else base

    def object_layer(number: int, name: str, colour: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
        base = {"id": number, "name": name, "type": "objectgroup", "visible": True, "opacity": 1, "x": 0, "y": 0}
        return {**base, "color": colour, "draworder": "topdown", "objects": objects}

    def item_thing(item: hobbs.Item) -> dict[str, Any]:
        sprite = SPRITES[item.sprite]
        rows, columns = sprite.picture.shape[0] // SIDE - sprite.over, sprite.picture.shape[1] // SIDE
        notes: Mapping[str, str | int] = {"idle": item.idle, "affords": item.affords, "capacity": item.capacity}
        return thing(item.name, item.x, item.y, (columns, rows), notes)

    sectors = [thing(r.address, r.x, r.y, (r.width, r.height), r.norms) for r in hobbs.SECTORS]
    arenas = [thing(r.address.split(":")[1], r.x, r.y, (r.width, r.height), r.norms) for r in hobbs.ROOMS]
    objects = [item_thing(item) for item in hobbs.ITEMS if item.name]
    spawns = [{**thing(name, x, y, (0, 0), {}), "point": True} for name, (x, y) in hobbs.SPAWNS.items()]
    layers = [tile_layer(1, "ground", ground), tile_layer(2, "walls", walls)]
    for at, data in enumerate(furniture):
        layers.append(tile_layer(len(layers) + 1, f"furniture {at + 1}" if at else "furniture", data))
    layers.append(tile_layer(len(layers) + 1, "collision", collision, visible=False))
    for name, colour, things in (
        ("sectors", "#3070c0", sectors),
        ("arenas", "#40a060", arenas),
        ("objects", "#e0a020", objects),
        ("spawns", "#c04080", spawns),
    ):
        layers.append(object_layer(len(layers) + 1, name, colour, things))
    return {
        "compressionlevel": -1,
        "height": len(hobbs.PLAN),
        "infinite": False,
        "layers": layers,
        "nextlayerid": len(layers) + 1,
        "nextobjectid": next(ids),
        "orientation": "orthogonal",
        "properties": [{"name": "title", "type": "string", "value": hobbs.TITLE}],
        "renderorder": "right-down",
        "tiledversion": "1.11.0",
        "tileheight": SIDE,
        "tilesets": [{"firstgid": 1, "source": "town.tsj"}],
        "tilewidth": SIDE,
        "type": "map",
        "version": "1.10",
        "width": len(hobbs.PLAN[0]),
    }


def write_tileset(sheet: Sheet) -> dict[str, Any]:
    """The tileset as Tiled's JSON."""
    height, width, _ = sheet.picture().shape
    return {
        "columns": COLUMNS,
        "image": "town.png",
        "imageheight": height,
        "imagewidth": width,
        "margin": 0,
        "name": "town",
        "spacing": 0,
        "tilecount": width * height // SIDE // SIDE,
        "tiledversion": "1.11.0",
        "tileheight": SIDE,
        "tilewidth": SIDE,
        "type": "tileset",
        "version": "1.10",
    }


def to_json(data: dict[str, Any]) -> bytes:
    """Writes JSON a key a line, and a layer's tiles or an object in one line, so that a change is a small diff."""
    text = json.dumps({**data, "layers": []}, indent=1, ensure_ascii=False)
    if "layers" in data:
        lines = []
        for layer in data["layers"]:
            if "objects" in layer:
                inner = ",\n    ".join(json.dumps(item, ensure_ascii=False) for item in layer["objects"])
                head = json.dumps({**layer, "objects": []}, ensure_ascii=False)
                lines.append(head.replace('"objects": []', f'"objects": [\n    {inner}]'))
            else:
                lines.append(json.dumps(layer, ensure_ascii=False))
        text = text.replace('"layers": []', '"layers": [\n  ' + ",\n  ".join(lines) + "]")
    else:
        text = json.dumps(data, indent=1, ensure_ascii=False)
    return (text + "\n").encode()


def main(check: bool) -> int:
    sheet = Sheet()
    drawn = to_json(write_map(sheet))
    picture = MAPS.parent / "docs" / f"{hobbs.NAME}.png"
    files: dict[Path, tuple[bytes, Callable[[bytes], bytes]]] = {
        MAPS / f"{hobbs.NAME}.tmj": (drawn, bytes),
        MAPS / "town.tsj": (to_json(write_tileset(sheet)), bytes),
        # Two zlib versions may pack the same picture differently: pictures are compared by their pixels.
        MAPS / "town.png": (to_png(sheet.picture()), lambda data: from_png(data).tobytes()),
    }
    if check:
        stale = [p.name for p, (new, read) in files.items() if not p.is_file() or read(p.read_bytes()) != read(new)]
        print(f"stale: {', '.join(stale)}; run python maps/build.py" if stale else "the map is as drawn")
        return 1 if stale else 0
    for path, (new, _) in files.items():
        path.write_bytes(new)
    picture.write_bytes(to_png(draw_map(MAPS / f"{hobbs.NAME}.tmj", scale=2)))
    print(f"{hobbs.NAME}: {len(sheet.tiles)} tiles, {sum(len(new) for new, _ in files.values()) // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
