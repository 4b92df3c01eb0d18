"""Rough sprites, to be drawn."""

from __future__ import annotations
from typing import NamedTuple
import numpy as np
from pictures import Picture
from tiles import SIDE, flat


class Sprite(NamedTuple):
    picture: Picture
    over: int = 0
    way: tuple[str, ...] = ()

    def open(self, column: int, row: int) -> bool:
        return bool(self.way) and self.way[row][column] == "."


def box(name: str, w: int = 1, h: int = 1, over: int = 0, way: tuple[str, ...] = ()) -> Sprite:
    return Sprite(np.tile(flat(name), (h + over, w, 1)), over, way)


SPRITES = {
    n: box(n, *a)
    for n, *a in (
        ("coffee machine",),
        ("sink",),
        ("cake display", 2),
        ("notice board", 1),
        ("piano", 2),
        ("counter", 5),
        ("round table",),
        ("chair east", 1, 1, 0, (".",)),
        ("chair west", 1, 1, 0, (".",)),
        ("chair north", 1, 1, 0, (".",)),
        ("stool", 1, 1, 0, (".",)),
        ("plant",),
        ("stove",),
        ("work top",),
        ("fridge",),
        ("long table", 2),
        ("crates",),
        ("bed blue", 1, 2, 0, (".", "#")),
        ("bed green", 1, 2, 0, (".", "#")),
        ("double bed", 2, 2, 0, ("..", "##")),
        ("desk",),
        ("bookshelf",),
        ("closet",),
        ("rug", 2, 2, 0, ("..", "..")),
        ("shower", 1, 1, 0, (".",)),
        ("toilet", 1, 1, 0, (".",)),
        ("basin",),
        ("television", 2),
        ("couch", 2, 1, 0, ("..",)),
        ("square table", 2, 2),
        ("cupboard",),
        ("bench", 2, 1, 0, ("..",)),
        ("pond", 5, 4),
        ("oak", 2, 2),
        ("flower bed", 2, 1),
        ("picnic table", 2),
        ("wide shelf", 3),
        ("computer desk",),
        ("counter short", 2),
        ("armchair", 1, 1, 0, (".",)),
        ("tree",),
        ("bush",),
        ("lamp",),
    )
}
