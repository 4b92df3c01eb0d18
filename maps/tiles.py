"""The fabric of the town, tile by tile: grass, paths, water, floors, walls and hedges.

``joins`` says at which sides the same fabric goes on: north 1, east 2, south 4, west 8.
"""

from __future__ import annotations

from collections.abc import Callable

from paint import SIDE, Canvas, noise
from pictures import Picture

NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8

BLOCKED = Canvas().box(0, 0, SIDE, SIDE, "red", "red dark").picture


def fabric(kind: str, x: int, y: int, joins: int = 0) -> Picture:
    """The tile of a kind at a position; positions vary the grass and the way boards are laid."""
    if kind in FACES:
        return wall(kind, joins).picture
    if kind in JOINING:
        return JOINING[kind](joins, x, y).picture
    return FLOORS[kind](x, y).picture


def grass(x: int, y: int) -> Canvas:
    c, kind = Canvas().box(0, 0, SIDE, SIDE, "grass"), noise(x, y) % 16
    salt = kind % 5
    for spot in range(5):
        a, b = noise(spot, salt, 1) % 15, noise(spot, salt, 2) % 14
        c.dots("grass dark" if spot % 2 else "grass light", (a, b), (a + 1, b))
    if kind in (5, 6, 7):
        for a, b in ((3, 4), (10, 9)) if kind != 6 else ((9, 3), (4, 11)):
            c.box(a, b + 1, 3, 1, "grass dark").dots("grass dark", (a, b), (a + 2, b)).dots(
                "grass light", (a + 1, b - 1)
            )
    if kind in (8, 9):
        petal, heart = ("white", "yellow") if kind == 8 else ("pink light", "orange")
        for a, b in ((4, 5), (11, 11)):
            c.box(a, b - 1, 1, 3, petal).box(a - 1, b, 3, 1, petal).dots(heart, (a, b)).dots("grass dark", (a, b + 2))
    return c


def path(joins: int, x: int, y: int) -> Canvas:
    c, salt = Canvas().box(0, 0, SIDE, SIDE, "path"), noise(x, y, 5) % 4
    for row in range(4):
        shift = (row % 2) * 4
        c.box(0, row * 4 + 3, SIDE, 1, "path dark")
        for column in range((shift + 7) % 8, SIDE, 8):
            c.box(column, row * 4, 1, 3, "path dark")
    for spot in range(3):
        a, b = noise(spot, salt, 6) % 3, noise(spot, salt, 7) % 4
        c.box((a * 8 + (b % 2) * 4) % 16, b * 4, 6, 1, "path light")
    _verge(c, joins, "grass", "bank", 2)
    return c


def water(joins: int, x: int, y: int) -> Canvas:
    c, salt = Canvas().box(0, 0, SIDE, SIDE, "water"), noise(x, y, 8) % 3
    for a, b in (((2, 5), (9, 11)), ((8, 3), (3, 12)), ((5, 8),))[salt]:
        c.box(a, b, 4, 1, "water light").box(a + 2, b + 1, 3, 1, "water dark")
    _verge(c, joins, "path", "water light", 3)
    _verge(c, joins, "grass", "bank", 1)
    return c


def _verge(c: Canvas, joins: int, outside: str, rim: str, width: int) -> None:
    """Lets the surroundings in at the sides that do not join, ragged, and rounds the corner between two such sides."""
    bend = 5
    for y in range(SIDE):
        for x in range(SIDE):
            # How deep the pixel lies behind each edge that does not join; behind a joined one it is deep inside.
            ragged = noise((x if x not in (0, SIDE - 1) else y) // 3, width, 9) % 2
            rough = noise(y // 3, width, 9) % 2
            vertical = (
                min(y - ragged if not joins & NORTH else SIDE, SIDE - 1 - y - ragged if not joins & SOUTH else SIDE)
                - width
            )
            level = (
                min(x - rough if not joins & WEST else SIDE, SIDE - 1 - x - rough if not joins & EAST else SIDE) - width
            )
            deep: float = min(vertical, level)
            if 0 <= vertical < bend and 0 <= level < bend:
                deep = bend - ((bend - vertical) ** 2 + (bend - level) ** 2) ** 0.5
            if deep < 0:
                c.dots(outside, (x, y))
            elif deep < 1:
                c.dots(rim, (x, y))


def planks(x: int, y: int) -> Canvas:
    c = Canvas().box(0, 0, SIDE, SIDE, "plank")
    for row in range(4):
        if noise(row + 4 * (y % 2), x % 3, 3) % 3 == 0:
            c.box(0, row * 4, SIDE, 3, "plank light")
        c.box(0, row * 4 + 3, SIDE, 1, "plank dark")
        if (row + x + 2 * y) % 3 == 0:
            c.box((row * 5 + 3) % 13, row * 4, 1, 3, "plank dark")
    return c


def parquet(x: int, y: int) -> Canvas:
    c = Canvas().box(0, 0, SIDE, SIDE, "oak")
    for row in range(2):
        for column in range(2):
            left, top = column * 8, row * 8
            for strip in range(2):
                shade_of = "oak light" if (row + column + strip) % 2 else "oak"
                if (row + column) % 2:
                    c.box(left, top + strip * 4, 8, 4, shade_of).box(left, top + strip * 4 + 3, 8, 1, "oak dark")
                else:
                    c.box(left + strip * 4, top, 4, 8, shade_of).box(left + strip * 4 + 3, top, 1, 8, "oak dark")
    return c


def kitchen(x: int, y: int) -> Canvas:
    c = Canvas().box(0, 0, SIDE, SIDE, "tile")
    for a, b in ((0, 0), (8, 8)):
        c.box(a, b, 8, 8, "tile dark")
    return c


def bathroom(x: int, y: int) -> Canvas:
    c = Canvas().box(0, 0, SIDE, SIDE, "aqua")
    for step in (3, 7, 11, 15):
        c.box(0, step, SIDE, 1, "aqua dark").box(step, 0, 1, SIDE, "aqua dark")
    return c


def carpet(x: int, y: int) -> Canvas:
    c = Canvas().box(0, 0, SIDE, SIDE, "carpet")
    return c.dots("carpet dark", *((a, b) for b in range(0, SIDE, 2) for a in range((b // 2 % 2) * 2, SIDE, 4)))


FACES = {"cafe": "brick", "dorm": "plaster", "apartment": "board", "library": "stone"}


def wall(kind: str, joins: int) -> Canvas:
    """A wall seen from above and from the south: its dark top, and below it the face where no wall follows."""
    paint = FACES[kind]
    c = Canvas().box(0, 0, SIDE, SIDE, f"{paint} cap")
    for side, box in ((NORTH, (0, 0, SIDE, 1)), (WEST, (0, 0, 1, SIDE)), (EAST, (SIDE - 1, 0, 1, SIDE))):
        if not joins & side:
            c.box(*box, f"{paint} edge")
    if joins & SOUTH:
        return c
    c.box(0, 5, SIDE, 1, "ink").box(0, 6, SIDE, 10, paint).box(0, 6, SIDE, 1, f"{paint} dark")
    if kind == "cafe":
        for row, y in enumerate((8, 11, 14)):
            c.box(0, y, SIDE, 1, "brick dark")
            c.dots("brick dark", *((a, b) for a in range((row % 2) * 4, SIDE, 8) for b in (y + 1, y + 2)))
            c.dots("brick light", *((a, y + 1) for a in range((row % 2) * 4 + 1, SIDE, 8)))
    elif kind == "dorm":
        c.box(0, 7, SIDE, 1, "plaster light").box(0, 13, SIDE, 1, "plaster dark").box(0, 14, SIDE, 2, "plaster light")
    elif kind == "apartment":
        for y in (8, 11, 14):
            c.box(0, y, SIDE, 1, "board dark").box(0, y + 1, SIDE, 1, "board light")
    else:
        for row, y in enumerate((7, 11)):
            c.box(0, y + 4, SIDE, 1, "stone dark").box(0, y, SIDE, 1, "stone light")
            c.dots("stone dark", *((a, b) for a in range((row % 2) * 4 + 3, SIDE, 8) for b in range(y, y + 4)))
    c.box(0, SIDE - 1, SIDE, 1, "ink")
    if not joins & WEST:
        c.box(0, 6, 1, 10, f"{paint} dark")
    if not joins & EAST:
        c.box(SIDE - 1, 6, 1, 10, f"{paint} dark")
    return c


def doorway(joins: int, x: int, y: int) -> Canvas:
    """An opening in a wall, with a mat; the sides that join are wall. In an east-west wall a lintel spans it."""
    c = Canvas()
    if joins & (NORTH | SOUTH):
        c.box(2, 5, 12, 10, "red dark", "ink").box(4, 7, 8, 6, "red")
        return c
    c.box(0, 0, SIDE, 5, "wood").box(0, 0, SIDE, 1, "wood light").box(0, 5, SIDE, 1, "ink")
    # The mat of a double door goes on into the next tile.
    left, right = (3 if joins & WEST else 0), (SIDE - 3 if joins & EAST else SIDE)
    c.box(0, 6, SIDE, 2, "shadow").box(left, 10, right - left, 5, "red", "red dark")
    if joins & WEST:
        c.box(0, 6, 2, 10, "wood dark").box(2, 6, 1, 10, "ink")
    if joins & EAST:
        c.box(SIDE - 2, 6, 2, 10, "wood dark").box(SIDE - 3, 6, 1, 10, "ink")
    return c


def shade(joins: int, x: int, y: int) -> Canvas:
    """The shadow that a wall in the north or west lays on the floor beside it."""
    c = Canvas()
    if joins & NORTH:
        c.box(0, 0, SIDE, 3, "shadow")
    if joins & WEST:
        top = 3 if joins & NORTH else 0
        c.box(0, top, 2, SIDE - top, "shadow")
    return c


def hedge(joins: int, x: int, y: int) -> Canvas:
    c = Canvas()
    left, right = (0 if joins & WEST else 2), (SIDE if joins & EAST else SIDE - 2)
    bottom = SIDE if joins & SOUTH else SIDE - 1
    c.box(left, 0, right - left, bottom, "leaf")
    for spot in range(9):
        a, b = left + noise(spot, x % 3, 11) % max(1, right - left - 2), noise(spot, y % 3, 12) % 9
        c.box(a, b, 2, 1, "leaf light").dots("leaf dark", (a, b + 1))
    if not joins & SOUTH:
        c.box(left, 11, right - left, 4, "leaf dark").box(left, 14, right - left, 1, "ink")
        c.dots("leaf", *((a, 11) for a in range(left + 1, right, 3)), *((a, 12) for a in range(left + 2, right, 4)))
    if not joins & NORTH:
        c.box(left, 0, right - left, 1, "leaf dark")
    if not joins & WEST:
        c.box(left, 0, 1, bottom, "leaf dark")
    if not joins & EAST:
        c.box(right - 1, 0, 1, bottom, "leaf dark")
    return c


FLOORS: dict[str, Callable[[int, int], Canvas]] = {
    "bathroom": bathroom,
    "carpet": carpet,
    "grass": grass,
    "kitchen": kitchen,
    "parquet": parquet,
    "planks": planks,
}
JOINING: dict[str, Callable[[int, int, int], Canvas]] = {
    "doorway": doorway,
    "hedge": hedge,
    "path": path,
    "shade": shade,
    "water": water,
}
