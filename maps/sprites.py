"""What a sprite is, and the furniture of kitchens and the cafe; other rooms are in `rooms.py`, gardens in `garden.py`.

Everything is seen from the south and a little from above: a top, and below it a front. What stands before a north wall
may reach up over it, in rows above its base that block nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paint import SIDE, Canvas
from pictures import Picture


class Sprite(NamedTuple):
    """Holds a picture of whole tiles and which of its base tiles can be walked on."""

    picture: Picture
    over: int = 0
    """Rows of tiles above the base."""
    way: tuple[str, ...] = ()
    """One text a base row: ``.`` can be walked on, ``#`` cannot; empty means that nothing can."""

    def open(self, column: int, row: int) -> bool:
        return bool(self.way) and self.way[row][column] == "."


def made(paint: Callable[[], Canvas], over: int = 0, *way: str) -> Sprite:
    return Sprite(paint().picture, over, way)


def unit(columns: int, top: str, front: str, line: str) -> Canvas:
    """A low cupboard before a north wall: top from 11 to 20, doors below."""
    c, width = Canvas(columns, 2), columns * SIDE
    c.box(0, 30, width, 2, "shadow").box(0, 11, width, 20, top, "ink").box(0, 20, width, 11, front, "ink")
    for x in range(0, width, SIDE):
        c.box(x + 3, 22, 10, 7, line).box(x + 4, 23, 8, 5, front).dots("ink", (x + 11, 24))
    return c


def stove() -> Canvas:
    c = unit(1, "grey dark", "grey light", "grey")
    for x in (2, 8):
        c.round(x, 12, 6, 4, "black").round(x, 16, 6, 4, "black").dots("red light", (x + 2, 13), (x + 3, 17))
    return c.box(3, 24, 10, 5, "black", "grey dark").box(4, 25, 4, 1, "glass").dots("ink", (4, 22), (7, 22), (10, 22))


def sink() -> Canvas:
    c = unit(1, "grey light", "white", "grey light")
    return c.soft(3, 13, 10, 6, "water light", "steel").box(7, 9, 2, 4, "steel").box(7, 12, 2, 2, "ink")


def work_top() -> Canvas:
    c = unit(1, "grey light", "white", "grey light").box(3, 13, 9, 5, "wood light", "wood dark")
    return c.box(5, 14, 3, 2, "red light").box(9, 14, 1, 3, "white")


def fridge() -> Canvas:
    c = Canvas(1, 2).box(1, 30, 15, 2, "shadow").soft(1, 1, 14, 30, "white", "ink").box(2, 2, 12, 3, "grey light")
    c.box(2, 13, 12, 1, "grey dark").box(3, 8, 1, 4, "grey").box(3, 16, 1, 6, "grey")
    return c.box(9, 17, 3, 3, "yellow")


def coffee_machine() -> Canvas:
    c = unit(1, "wood light", "wood", "wood dark").soft(2, 4, 12, 14, "red", "ink").box(3, 5, 10, 3, "red light")
    c.box(4, 9, 8, 8, "black").box(5, 9, 2, 3, "steel").box(9, 9, 2, 3, "steel").box(5, 14, 2, 2, "white")
    c.box(9, 14, 2, 2, "white")
    return c.dots("yellow", (4, 6), (6, 6)).box(3, 17, 10, 1, "steel")


def cake_display() -> Canvas:
    c = unit(2, "wood light", "wood", "wood dark").soft(2, 6, 28, 13, "cream", "ink").box(3, 12, 26, 1, "grey")
    for x, colour in ((5, "pink"), (12, "yellow"), (19, "red light"), (25, "white")):
        c.box(x, 9, 4 if x < 25 else 3, 3, colour).dots("wood dark", (x, 11), (x + 2, 11))
    for x, colour in ((4, "wood"), (10, "orange"), (17, "wood"), (23, "pink light")):
        c.box(x, 14, 5, 3, colour).box(x, 14, 5, 1, "white")
    return c.box(4, 7, 2, 10, "glass").box(20, 7, 1, 10, "glass")


def notice_board() -> Canvas:
    c = Canvas(1, 2).box(1, 5, 14, 11, "wood light", "wood dark")
    c.box(3, 7, 4, 4, "white").box(8, 7, 5, 3, "pink light").box(4, 12, 3, 2, "yellow")
    return c.box(8, 11, 4, 4, "white").dots("red", (5, 7), (10, 7), (10, 11))


def piano() -> Canvas:
    c = Canvas(2, 2).box(1, 30, 31, 2, "shadow").box(1, 5, 30, 26, "oak dark", "ink").box(2, 6, 28, 3, "wood")
    c.box(4, 10, 24, 8, "wood dark").box(12, 11, 8, 6, "white")
    c.dots("ink", *((x, y) for x in (13, 15, 17) for y in (13, 15)))
    c.box(2, 19, 28, 5, "white", "ink")
    c.dots("ink", *((x, y) for x in range(4, 29, 2) if x % 14 != 10 for y in (20, 21)))
    return c.box(2, 24, 28, 2, "wood").box(13, 28, 2, 2, "yellow").box(17, 28, 2, 2, "yellow")


def counter(columns: int) -> Canvas:
    c, width = Canvas(columns), columns * SIDE
    c.box(0, 15, width, 1, "shadow").soft(0, 0, width, 15, "wood light", "ink").box(1, 7, width - 2, 1, "ink")
    c.box(1, 8, width - 2, 6, "wood")
    for x in range(4, width, 8):
        c.box(x, 8, 1, 6, "wood dark")
    c.box(width - 13, 1, 7, 5, "grey dark", "ink").box(width - 12, 2, 5, 1, "water light")
    for x in range(5, width - 16, 14):
        c.box(x, 2, 3, 3, "white").dots("wood dark", (x + 1, 2)).dots("white", (x + 3, 3))
    return c


def round_table() -> Canvas:
    c = Canvas().round(2, 5, 14, 11, "shadow").box(7, 10, 2, 5, "wood dark").round(1, 1, 14, 11, "white", "ink")
    c.round(3, 3, 10, 7, "cream")
    return c.box(5, 4, 3, 2, "red light").box(9, 6, 2, 2, "wood").dots("green", (6, 3))


def long_table() -> Canvas:
    c = Canvas(2).box(2, 14, 30, 2, "shadow").box(2, 10, 3, 5, "wood dark").box(27, 10, 3, 5, "wood dark")
    c.soft(0, 1, 32, 11, "wood light", "ink").box(1, 9, 30, 2, "wood").round(5, 3, 6, 5, "white", "grey")
    c.round(20, 3, 6, 5, "white", "grey")
    return c.box(14, 3, 4, 4, "red light").dots("yellow", (15, 4), (16, 5)).dots("orange", (7, 5), (23, 5))


def square_table() -> Canvas:
    c = Canvas(2, 2).box(3, 28, 28, 3, "shadow").box(3, 24, 3, 6, "wood dark").box(26, 24, 3, 6, "wood dark")
    c.soft(1, 3, 30, 24, "wood light", "ink").box(2, 23, 28, 3, "wood").box(3, 5, 26, 1, "plank light")
    for x, y in ((5, 8), (21, 8), (5, 15), (21, 15)):
        c.round(x, y, 6, 5, "white", "grey")
    c.round(13, 10, 7, 7, "green dark", "ink").dots("pink", (15, 12), (17, 13))
    return c.dots("yellow", (16, 11), (15, 14))


def chair(side: str) -> Canvas:
    """A chair whose sitter looks to the side."""
    c = Canvas().box(3, 13, 11, 2, "shadow")
    if side == "north":
        c.box(4, 12, 2, 3, "wood dark").box(10, 12, 2, 3, "wood dark").soft(3, 2, 10, 7, "red light", "ink")
        return c.soft(2, 7, 12, 6, "wood", "ink").box(4, 9, 8, 1, "wood light")
    c.box(4, 12, 2, 3, "wood dark").box(10, 12, 2, 3, "wood dark").soft(3, 5, 10, 8, "red light", "ink")
    c.soft(2, 1, 4, 12, "wood", "ink").box(3, 3, 1, 7, "wood light")
    if side == "west":
        c.picture = c.picture[:, ::-1].copy()
    return c


def stool() -> Canvas:
    return Canvas().round(3, 5, 11, 9, "shadow").round(3, 3, 10, 8, "black", "ink").round(5, 4, 6, 4, "grey dark")


def plant() -> Canvas:
    c = Canvas(1, 2).round(3, 26, 11, 5, "shadow").soft(4, 20, 8, 10, "orange", "ink").box(5, 21, 6, 2, "red light")
    for x, y, w, h in ((2, 11, 6, 7), (8, 10, 6, 8), (4, 6, 7, 8), (5, 14, 7, 7)):
        c.round(x, y, w, h, "leaf", "leaf dark").dots("leaf light", (x + 2, y + 2), (x + 3, y + 2), (x + 2, y + 3))
    return c


def crates() -> Canvas:
    c = Canvas(1, 2).box(1, 30, 15, 2, "shadow")
    for y in (8, 18):
        c.box(1, y, 14, 13, "wood light", "ink").box(2, y + 4, 12, 1, "wood").box(2, y + 8, 12, 1, "wood")
        c.box(4, y + 1, 1, 11, "wood dark")
    return c.box(2, 6, 12, 3, "green dark").dots("red", (4, 6), (7, 7), (11, 6)).dots("orange", (9, 6), (5, 7))


def menu_board() -> Canvas:
    c = Canvas().box(1, 6, 14, 9, "black", "wood")
    c.box(3, 8, 6, 1, "white").box(3, 10, 4, 1, "pink light").box(3, 12, 7, 1, "white")
    return c.box(11, 9, 2, 2, "yellow")


def sign() -> Canvas:
    """A shop sign on the top of a wall, two tiles wide above a double door: a cup between two strokes of writing."""
    c = Canvas(2).soft(1, 0, 30, 7, "board", "ink").box(2, 1, 28, 1, "board light")
    return c.box(12, 2, 6, 3, "red").dots("red", (18, 3)).box(5, 3, 4, 1, "wood dark").box(22, 3, 5, 1, "wood dark")


def window() -> Canvas:
    c = Canvas().box(2, 6, 12, 8, "water light", "wood dark").box(7, 7, 2, 6, "wood dark")
    return c.box(3, 7, 4, 3, "white").box(9, 7, 4, 2, "white").box(1, 14, 14, 1, "wood light")


def painting(sky: str, land: str) -> Canvas:
    return Canvas().box(3, 6, 10, 8, sky, "wood dark").box(4, 10, 8, 3, land).dots("yellow", (9, 8))


KITCHENS: dict[str, Sprite] = {
    "cake display": made(cake_display, 1),
    "chair east": made(lambda: chair("east"), 0, "."),
    "chair north": made(lambda: chair("north"), 0, "."),
    "chair west": made(lambda: chair("west"), 0, "."),
    "coffee machine": made(coffee_machine, 1),
    "counter": made(lambda: counter(5)),
    "counter short": made(lambda: counter(2)),
    "crates": made(crates, 1),
    "fridge": made(fridge, 1),
    "long table": made(long_table),
    "menu board": made(menu_board),
    "notice board": made(notice_board, 1, "."),
    "painting": made(lambda: painting("water light", "green")),
    "painting dusk": made(lambda: painting("pink light", "violet")),
    "piano": made(piano, 1),
    "plant": made(plant, 1),
    "round table": made(round_table),
    "sign cup": made(sign, 0, ".."),
    "sink": made(sink, 1),
    "square table": made(square_table),
    "stool": made(stool, 0, "."),
    "stove": made(stove, 1),
    "window": made(window),
    "work top": made(work_top, 1),
}
