"""The Tiled map format (``.tmj``), read into plain layers: https://doc.mapeditor.org/en/stable/reference/json-map-format/

What is read: orthogonal finite maps, tilesets embedded or as ``.tsj``, tile data as numbers or base64 (plain, zlib,
gzip), object layers with rectangles, ellipses, polygons, points and tile objects, groups of layers. What the town makes
of the layers is `tiled.py`'s matter. Every fault is a `MapError` that names file, layer and object.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from localville.errors import MapError
from localville.world.grid import Tile

SIDE_MAX = 1000
"""Tiles along a side. Ours: seven times the original town's longer side (PAPER §10)."""
FILE_BYTES_MAX = 64 * 1024 * 1024
FLAGS = 0xF0000000
"""The top bits of a tile number mirror or turn the tile; they are no part of the number (Tiled, "Global Tile IDs")."""


class _Raw(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)


class Property(_Raw):
    """Holds one custom property as Tiled writes it."""

    name: str
    type: str = "string"
    value: Any = None


class Point(_Raw):
    """Holds a polygon's corner in pixels, relative to its object."""

    x: float
    y: float


class MapObject(_Raw):
    """Holds one object of an object layer; positions and sizes are pixels from the top left of the map."""

    id: int
    name: str = ""
    x: float
    y: float
    width: float = 0
    height: float = 0
    rotation: float = 0
    gid: int | None = None
    ellipse: bool = False
    point: bool = False
    polygon: list[Point] | None = None
    polyline: list[Point] | None = None
    text: Any = None
    template: str | None = None
    properties: list[Property] = []


class _Layer(_Raw):
    id: int = 0
    name: str = ""
    type: Literal["tilelayer", "objectgroup", "imagelayer", "group"]
    width: int = 0
    height: int = 0
    offsetx: float = 0
    offsety: float = 0
    data: list[int] | str | None = None
    encoding: str = "csv"
    compression: str = ""
    objects: list[MapObject] = []
    layers: list[_Layer] = []


class _Tileset(_Raw):
    firstgid: int = Field(default=1, ge=1)
    source: str | None = None
    tilecount: int = Field(default=0, ge=0)
    image: str | None = None


class _Map(_Raw):
    orientation: str
    infinite: bool = False
    width: int
    height: int
    tilewidth: int = Field(gt=0, le=1024)
    tileheight: int = Field(gt=0, le=1024)
    layers: list[_Layer]
    tilesets: list[_Tileset] = []
    properties: list[Property] = []


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class TiledMap:
    """Holds a map's layers by name, groups opened, in drawing order."""

    path: Path
    width: int
    height: int
    tile_width: int
    tile_height: int
    tile_layers: dict[str, NDArray[np.int64]]
    """Tile numbers without mirror flags, int64[height, width]; 0 is no tile."""
    object_layers: dict[str, tuple[MapObject, ...]]
    properties: tuple[Property, ...]

    def where(self, layer: str = "", item: MapObject | None = None) -> str:
        """The place of a fault in words: ``map 'hobbs.tmj', layer 'objects', object 'bed' (id 41)``."""
        text = f"map '{self.path.name}'" + (f", layer '{layer}'" if layer else "")
        return text if item is None else f"{text}, object '{' '.join(item.name.split())}' (id {item.id})"

    def tiles_of(self, item: MapObject) -> tuple[Tile, ...]:
        """The tiles whose centres lie in an object's shape, in reading order; at least the one under its middle.

        Nothing when the shape lies wholly beside the map.
        """
        corners = [(item.x + p.x, item.y + p.y) for p in item.polygon or ()]
        if corners:
            left, right = min(x for x, _ in corners), max(x for x, _ in corners)
            top, bottom = min(y for _, y in corners), max(y for _, y in corners)
        else:
            # A tile object hangs from its bottom left corner, every other shape from its top left one.
            left, top = item.x, item.y - (item.height if item.gid is not None else 0)
            right, bottom = left + item.width, top + item.height
        columns = _centres_between(left / self.tile_width, right / self.tile_width, self.width)
        rows = _centres_between(top / self.tile_height, bottom / self.tile_height, self.height)
        x, y = (columns + 0.5) * self.tile_width, (rows + 0.5)[:, None] * self.tile_height
        inside = np.ones((len(rows), len(columns)), dtype=np.bool_)
        if corners:
            inside = _in_polygon(x, y, corners)
        elif item.ellipse and inside.size:
            across, down = (right - left) / 2, (bottom - top) / 2
            inside = ((x - left - across) / across) ** 2 + ((y - top - down) / down) ** 2 <= 1
        tiles = tuple(Tile(int(columns[j]), int(rows[i])) for i, j in np.argwhere(inside))
        column, row = (left + right) / 2 / self.tile_width, (top + bottom) / 2 / self.tile_height
        if not tiles and 0 <= column < self.width and 0 <= row < self.height:
            return (Tile(int(column), int(row)),)
        return tiles


def read_tmj(path: Path) -> TiledMap:
    """Reads a map file and its tilesets; raises `MapError`."""
    raw = _read_json(path, _Map, f"map '{path.name}'")
    where = f"map '{path.name}'"
    if raw.orientation != "orthogonal":
        raise MapError(f"the map is {raw.orientation}", where=where, next="Set Map > Map Properties to Orthogonal")
    if raw.infinite:
        raise MapError("the map is infinite", where=where, next="Untick Infinite under Map > Map Properties")
    if not (0 < raw.width <= SIDE_MAX and 0 < raw.height <= SIDE_MAX):
        size = f"{raw.width} × {raw.height} tiles"
        raise MapError(f"its size is {size}", where=where, next=f"Use Map > Resize Map: 1 to {SIDE_MAX} tiles a side")
    known = np.zeros(1, dtype=np.int64)
    for tileset in raw.tilesets:
        first, count = _tileset_span(path, tileset)
        known = np.concatenate([known, np.arange(first, first + count)])
    tile_layers: dict[str, NDArray[np.int64]] = {}
    object_layers: dict[str, tuple[MapObject, ...]] = {}
    for layer in _flat(raw.layers):
        at = f"{where}, layer '{layer.name}'"
        if layer.type == "imagelayer":
            continue
        if layer.name in tile_layers or layer.name in object_layers:
            raise MapError("two layers have this name", where=at, next="Rename or remove one of them in Tiled")
        if layer.offsetx or layer.offsety:
            raise MapError(
                "the layer is shifted", where=at, next="Set its Horizontal and Vertical Offset to 0 in Tiled"
            )
        if layer.type == "tilelayer":
            tile_layers[layer.name] = _tile_numbers(layer, raw.width, raw.height, known, at)
        else:
            object_layers[layer.name] = tuple(_plain_object(item, at) for item in layer.objects)
    return TiledMap(
        path, raw.width, raw.height, raw.tilewidth, raw.tileheight, tile_layers, object_layers, tuple(raw.properties)
    )


def _read_json(path: Path, model: type[M], where: str) -> M:
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise MapError("the file is larger than 64 MB", where=where, next="Save it with zlib compression in Tiled")
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise MapError("the file does not exist", where=where, next=f"Check the path: {path}") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise MapError(f"the file cannot be read ({fault})", where=where, next="Save it again from Tiled") from None
    except (ValueError, RecursionError) as fault:
        raise MapError(
            f"this is no valid JSON: {fault}", where=where, next="Save it again from Tiled as .tmj"
        ) from None
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "file"
        raise MapError(
            f"'{key}': {first['msg'].lower()}", where=where, next="Save it again from Tiled as .tmj"
        ) from None


def _tileset_span(path: Path, tileset: _Tileset) -> tuple[int, int]:
    """The first tile number of a tileset and how many it has; reads the ``.tsj`` of an external one."""
    where, folder = f"map '{path.name}'", path.resolve().parent
    count, image, base = tileset.tilecount, tileset.image, folder
    if tileset.source is not None:
        where = f"{where}, tileset '{tileset.source}'"
        file = (folder / tileset.source).resolve()
        if not file.is_relative_to(folder):
            raise MapError("the tileset lies outside the map's folder", where=where, next="Copy it beside the map")
        if file.suffix not in (".tsj", ".json"):
            raise MapError("only .tsj tilesets are read", where=where, next="Use Export As > .tsj, or Embed Tileset")
        read = _read_json(file, _Tileset, where)
        count, image, base = read.tilecount, read.image, file.parent
    if image is not None and not (base / image).resolve().is_relative_to(folder):
        raise MapError(
            f"its picture '{image}' lies outside the map's folder", where=where, next="Copy it beside the map"
        )
    # A sane limit: far below the mirror flags, and no list of known tiles that fills the memory.
    if tileset.firstgid + count > SIDE_MAX * SIDE_MAX:
        raise MapError(f"the tileset claims {count} tiles", where=where, next="Save the tileset again from Tiled")
    return tileset.firstgid, count


def _flat(layers: list[_Layer]) -> list[_Layer]:
    flat: list[_Layer] = []
    for layer in layers:
        flat += _flat(layer.layers) if layer.type == "group" else [layer]
    return flat


def _tile_numbers(layer: _Layer, width: int, height: int, known: NDArray[np.int64], where: str) -> NDArray[np.int64]:
    if (layer.width, layer.height) != (width, height):
        what = f"the layer is {layer.width} × {layer.height} tiles and the map {width} × {height}"
        raise MapError(what, where=where, next="Use Map > Resize Map in Tiled, which resizes the layers too")
    count = width * height
    if isinstance(layer.data, str):
        numbers = _unpack(layer, count, where)
    elif isinstance(layer.data, list):
        if any(number < 0 or number > 0xFFFFFFFF for number in layer.data):
            raise MapError("a tile number is no 32-bit number", where=where, next="Save the map again from Tiled")
        numbers = np.array(layer.data, dtype=np.int64)
    else:
        raise MapError("the layer has no data", where=where, next="Save the map again from Tiled")
    if numbers.size != count:
        what = f"the layer's data has {numbers.size} tiles instead of {count}"
        raise MapError(what, where=where, next="Save the map again from Tiled")
    numbers = numbers & ~FLAGS
    strange = np.flatnonzero(~np.isin(numbers, known))
    if strange.size:
        row, column = divmod(int(strange[0]), width)
        what = f"tile number {numbers[strange[0]]} at column {column}, row {row} belongs to no tileset"
        raise MapError(what, where=where, next="Erase that tile, or add its tileset in Tiled")
    return numbers.reshape(height, width)


def _unpack(layer: _Layer, count: int, where: str) -> NDArray[np.int64]:
    """Decodes base64 tile data: little-endian uint32[count]."""
    fix = "Set Tile Layer Format to CSV or Base64 (zlib) under Map > Map Properties"
    if layer.encoding != "base64":
        raise MapError(f"the data's encoding '{layer.encoding}' is unknown", where=where, next=fix)
    if layer.compression not in ("", "zlib", "gzip"):
        raise MapError(f"the data's compression '{layer.compression}' is unknown", where=where, next=fix)
    try:
        packed = base64.b64decode(str(layer.data).strip(), validate=True)
        if layer.compression:
            # One byte more than is right shows that data is too long without unpacking a bomb. 47: zlib or gzip header.
            packed = zlib.decompressobj(47).decompress(packed, 4 * count + 1)
    except (binascii.Error, ValueError, zlib.error) as fault:
        raise MapError(f"the layer's data cannot be unpacked ({fault})", where=where, next=fix) from None
    if len(packed) != 4 * count:
        what = f"the layer's data has not the {4 * count} bytes of {count} tiles"
        raise MapError(what, where=where, next="Save the map again from Tiled")
    return np.frombuffer(packed, dtype="<u4").astype(np.int64)


def _plain_object(item: MapObject, layer: str) -> MapObject:
    where = f"{layer}, object '{' '.join(item.name.split())}' (id {item.id})"
    if item.rotation:
        raise MapError("the object is turned", where=where, next="Set its Rotation to 0 in Tiled")
    for kind, used in (("line", item.polyline), ("text", item.text), ("template", item.template)):
        if used is not None:
            raise MapError(f"the object is a {kind}", where=where, next="Draw it as a rectangle, polygon or point")
    if item.width < 0 or item.height < 0:
        raise MapError("the object's size is negative", where=where, next="Draw it again in Tiled")
    return item


def _centres_between(low: float, high: float, count: int) -> NDArray[np.int64]:
    """The indexes of the tiles whose centres lie in [low, high), both in tiles, clipped to the map."""
    first = math.ceil(min(max(low - 0.5, 0), count))
    end = math.ceil(min(max(high - 0.5, 0), count))
    return np.arange(first, max(end, first), dtype=np.int64)


def _in_polygon(x: NDArray[Any], y: NDArray[Any], corners: list[tuple[float, float]]) -> NDArray[np.bool_]:
    """Whether points lie in a polygon, by the even-odd rule. x: float[w], y: float[h, 1] → bool[h, w]."""
    inside = np.zeros((y.shape[0], x.shape[0]), dtype=np.bool_)
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        if ay != by:
            crosses = ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
            inside ^= crosses
    return inside
