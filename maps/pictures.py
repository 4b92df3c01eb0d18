"""PNG pictures and the drawing of a map, in plain numpy: nothing here is needed to run a town."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
"""uint8[height, width, 4]: red, green, blue, opacity."""

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def to_png(picture: Picture) -> bytes:
    """Packs a picture as PNG: 8-bit RGBA, no row filters."""
    height, width, _ = picture.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, width * 4)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in parts)


def from_png(data: bytes) -> Picture:
    """Unpacks a PNG that `to_png` packed."""
    chunks, at = dict[bytes, bytes](), len(SIGNATURE)
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    width, height, depth, colours, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width * 4 + 1)
    if (depth, colours) != (8, 6) or rows[:, 0].any():
        raise ValueError("only pictures that to_png has written can be read")
    return rows[:, 1:].reshape(height, width, 4).copy()


def lay(ground: Picture, top: Picture, x: int = 0, y: int = 0) -> None:
    """Lays a picture over another at a pixel position, in place, by the opacity of the upper one."""
    height, width, _ = top.shape
    part = ground[y : y + height, x : x + width]
    share = top[..., 3:].astype(np.uint16)
    part[..., :3] = (top[..., :3] * share + part[..., :3] * (255 - share)) // 255
    part[..., 3:] = np.maximum(part[..., 3:], top[..., 3:])


def draw_map(path: Path, scale: int = 1) -> Picture:
    """Draws the visible tile layers of a map from its one ``.tsj`` tileset, each pixel ``scale`` times as large."""
    drawn = json.loads(path.read_text(encoding="utf-8"))
    tileset = json.loads((path.parent / drawn["tilesets"][0]["source"]).read_text(encoding="utf-8"))
    sheet = from_png((path.parent / tileset["image"]).read_bytes())
    side, columns = tileset["tilewidth"], tileset["columns"]
    picture = np.zeros((drawn["height"] * side, drawn["width"] * side, 4), np.uint8)
    for layer in drawn["layers"]:
        if layer["type"] != "tilelayer" or not layer["visible"]:
            continue
        for place, number in enumerate(layer["data"]):
            if number:
                row, column = divmod(number - 1, columns)
                tile = sheet[row * side : (row + 1) * side, column * side : (column + 1) * side]
                lay(picture, tile, place % drawn["width"] * side, place // drawn["width"] * side)
    return picture.repeat(scale, axis=0).repeat(scale, axis=1)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
