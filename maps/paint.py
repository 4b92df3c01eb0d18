"""A small canvas with a fixed palette: what `tiles.py` and `sprites.py` paint with."""

from __future__ import annotations

import numpy as np
from pictures import Picture

SIDE = 16
"""Pixels along a tile."""

PALETTE = {
    # outlines and shadows
    "ink": "3a2c3c",
    "shadow": "2a203040",
    "glass": "ffffff60",
    # grounds
    "grass": "84b45c",
    "grass dark": "6d9f50",
    "grass light": "9ac76c",
    "leaf": "4f8a4b",
    "leaf dark": "38693f",
    "leaf light": "79b35a",
    "path": "d9c39c",
    "path dark": "bda37c",
    "path light": "e8d8b6",
    "water": "5aa2cc",
    "water dark": "3f82b4",
    "water light": "8cc6e2",
    "bank": "9c8b6c",
    # woods
    "wood": "b27b4b",
    "wood dark": "855436",
    "wood light": "d09c66",
    "plank": "c8965f",
    "plank dark": "b07f4c",
    "plank light": "d3a36d",
    "oak": "a0703f",
    "oak dark": "8a5d33",
    "oak light": "ae7d4a",
    # stones, tiles and cloths
    "white": "f6f1e6",
    "cream": "ebdfc4",
    "grey": "9a9aa6",
    "grey dark": "6a6a7c",
    "grey light": "c6c8d0",
    "steel": "7d8796",
    "black": "45414f",
    "tile": "e6e2d4",
    "tile dark": "c9cfc8",
    "aqua": "cfe4e4",
    "aqua dark": "aecdd2",
    "brick": "b5654e",
    "brick dark": "91493f",
    "brick light": "c97c62",
    "plaster": "b9c4d6",
    "plaster dark": "93a1bb",
    "plaster light": "d3dbe6",
    "board": "e2c58c",
    "board dark": "c2a069",
    "board light": "f0dcae",
    "stone": "a9a396",
    "stone dark": "857f77",
    "stone light": "c4bfb1",
    "brick cap": "7c4a45",
    "brick edge": "9a6156",
    "plaster cap": "66759a",
    "plaster edge": "8593b4",
    "board cap": "9a7a50",
    "board edge": "b9986a",
    "stone cap": "6b6669",
    "stone edge": "89837f",
    "carpet": "b7a6c4",
    "carpet dark": "a695b5",
    "red": "c2504e",
    "red dark": "963b45",
    "red light": "dc7a6c",
    "blue": "5779b8",
    "blue dark": "415a94",
    "blue light": "86a6d8",
    "green": "5b9a68",
    "green dark": "437a55",
    "green light": "8ac088",
    "pink": "dd8fa4",
    "pink dark": "b96a86",
    "pink light": "f0b9c4",
    "yellow": "ecc65a",
    "orange": "dd9245",
    "violet": "8f6bb0",
}
COLOURS = {name: tuple(bytes.fromhex(code if len(code) == 8 else code + "ff")) for name, code in PALETTE.items()}


class Canvas:
    """Paints on a picture of whole tiles; positions are pixels from the top left.

    Every call gives the canvas back, so that calls chain; the many plain numbers are what keeps a sprite readable.
    """

    def __init__(self, columns: int = 1, rows: int = 1) -> None:
        self.picture: Picture = np.zeros((rows * SIDE, columns * SIDE, 4), np.uint8)

    def box(self, x: int, y: int, width: int, height: int, colour: str, edge: str = "") -> Canvas:
        """Fills a rectangle, if asked with an outline of one pixel inside it."""
        if edge:
            self._fill(x, y, width, height, edge)
            x, y, width, height = x + 1, y + 1, width - 2, height - 2
        return self._fill(x, y, width, height, colour)

    def soft(self, x: int, y: int, width: int, height: int, colour: str, edge: str) -> Canvas:
        """Fills an outlined rectangle with its four corner pixels left as they were."""
        corners = [(b, a) for b in (y, y + height - 1) for a in (x, x + width - 1)]
        before = [self.picture[corner].copy() for corner in corners]
        self.box(x, y, width, height, colour, edge)
        for corner, old in zip(corners, before, strict=True):
            self.picture[corner] = old
        return self

    def dots(self, colour: str, *places: tuple[int, int]) -> Canvas:
        for x, y in places:
            self._fill(x, y, 1, 1, colour)
        return self

    def round(self, x: int, y: int, width: int, height: int, colour: str, edge: str = "") -> Canvas:
        """Fills an ellipse in a box, if asked with an outline of one pixel inside it."""
        if edge:
            self.round(x, y, width, height, edge)
            return self.round(x + 1, y + 1, width - 2, height - 2, colour)
        rows, columns = np.mgrid[0:height, 0:width] + 0.5
        inside = ((columns - width / 2) / (width / 2)) ** 2 + ((rows - height / 2) / (height / 2)) ** 2 <= 1
        for row, column in np.argwhere(inside):
            self._fill(x + int(column), y + int(row), 1, 1, colour)
        return self

    def _fill(self, x: int, y: int, width: int, height: int, colour: str) -> Canvas:
        part = self.picture[max(y, 0) : y + height, max(x, 0) : x + width]
        red, green, blue, opacity = COLOURS[colour]
        if opacity == 255:
            part[...] = (red, green, blue, 255)
        else:
            # Glass and shadow tint what is there; on bare canvas they stay see-through.
            bare = part[..., 3:] == 0
            mixed = (part[..., :3].astype(int) * (255 - opacity) + np.array((red, green, blue)) * opacity) // 255
            part[..., :3] = np.where(bare, (red, green, blue), mixed)
            part[..., 3:] = np.where(bare, opacity, part[..., 3:])
        return self


def noise(x: int, y: int, salt: int = 0) -> int:
    """A number from 0 to 255 that looks random and is the same at every run."""
    mixed = (x * 374761393 + y * 668265263 + salt * 974634777) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) & 0xFF
