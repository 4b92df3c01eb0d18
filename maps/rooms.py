"""The furniture of bedrooms, bathrooms, living rooms and the library, painted like the kitchens' in `sprites.py`."""

from __future__ import annotations

from paint import SIDE, Canvas, noise
from sprites import Sprite, made, unit

BOOKS = ("red", "blue", "yellow", "green", "violet", "orange", "cream", "blue dark", "red dark", "green dark")


def reading_table() -> Canvas:
    c = Canvas(2, 2).box(3, 28, 28, 3, "shadow").box(3, 24, 3, 6, "oak dark").box(26, 24, 3, 6, "oak dark")
    c.soft(1, 3, 30, 24, "wood", "ink").box(2, 23, 28, 3, "wood dark").box(3, 5, 26, 1, "wood light")
    for x, y in ((4, 8), (4, 16)):
        c.box(x, y, 8, 5, "white", "grey dark").box(x + 4, y, 1, 5, "grey dark")
    c.box(21, 15, 7, 5, "blue", "ink").box(22, 10, 6, 5, "red", "ink")
    return c.box(15, 12, 2, 6, "yellow").box(13, 8, 6, 5, "green", "ink").box(14, 18, 4, 1, "ink")


def bed(columns: int, cloth: str) -> Canvas:
    c, width = Canvas(columns, 3), columns * SIDE
    c.box(2, 45, width - 2, 3, "shadow").box(1, 15, width - 2, 31, "white", "ink")
    c.soft(0, 9, width, 9, "wood", "ink").box(2, 11, width - 4, 1, "wood light")
    for x in range(0, width, SIDE):
        c.soft(x + 3, 19, 10, 7, "white", "grey").box(x + 4, 24, 8, 1, "grey light")
    c.box(1, 27, width - 2, 17, cloth, "ink").box(2, 28, width - 4, 3, f"{cloth} light")
    c.box(2, 31, width - 4, 1, f"{cloth} dark")
    for x in range(4, width - 3, 6):
        c.dots(f"{cloth} dark", (x, 34), (x + 2, 37), (x, 40))
    return c.box(1, 43, width - 2, 3, "wood", "ink")


def desk() -> Canvas:
    c = unit(1, "wood light", "wood", "wood dark").box(2, 13, 6, 5, "white", "grey").box(3, 15, 4, 1, "grey")
    c.box(11, 12, 2, 6, "yellow").soft(9, 6, 6, 6, "green", "ink").box(3, 10, 5, 2, "red")
    return c.box(3, 9, 5, 1, "blue")


def computer_desk() -> Canvas:
    c = unit(1, "wood light", "wood", "wood dark").soft(2, 3, 12, 10, "black", "ink").box(3, 4, 10, 7, "blue dark")
    c.box(4, 5, 5, 1, "green light").box(4, 7, 7, 1, "green light").box(4, 9, 3, 1, "green light")
    return c.box(7, 13, 2, 2, "ink").box(3, 16, 10, 3, "grey light", "grey dark")


def shelf(columns: int, salt: int) -> Canvas:
    c, width = Canvas(columns, 2), columns * SIDE
    c.box(1, 30, width - 1, 2, "shadow").box(0, 1, width, 30, "oak dark", "ink").box(1, 2, width - 2, 2, "wood")
    for row in range(3):
        y, x = 5 + row * 8, 2
        c.box(2, y, width - 4, 7, "ink").box(1, y + 7, width - 2, 1, "wood")
        while x < width - 3:
            pick = noise(x, row, salt)
            high, broad = 4 + pick % 3, 1 + pick // 8 % 2
            if pick % 11:
                c.box(x, y + 7 - high, min(broad, width - 2 - x), high, BOOKS[pick // 4 % len(BOOKS)])
            x += broad
    return c.box(1, 29, width - 2, 1, "wood dark")


def closet() -> Canvas:
    c = Canvas(1, 2).box(1, 30, 15, 2, "shadow").box(0, 1, 16, 30, "wood", "ink").box(1, 2, 14, 2, "wood light")
    for x in (2, 8):
        c.box(x, 5, 6, 22, "wood dark").box(x + 1, 6, 4, 9, "wood light").box(x + 1, 17, 4, 9, "wood light")
    return c.dots("yellow", (7, 16), (8, 16)).box(1, 28, 14, 2, "wood dark")


def cupboard() -> Canvas:
    c = Canvas(1, 2).box(1, 30, 15, 2, "shadow").box(0, 3, 16, 28, "steel", "ink").box(1, 4, 14, 2, "grey light")
    c.box(2, 8, 12, 9, "ink")
    c.box(4, 9, 1, 7, "wood light").box(3, 9, 3, 2, "grey light").box(8, 10, 4, 1, "red").box(9, 10, 1, 6, "red")
    c.box(12, 9, 1, 7, "grey light")
    c.box(2, 19, 12, 10, "grey dark").box(3, 20, 10, 4, "steel").box(3, 25, 10, 3, "steel")
    return c.dots("yellow", (7, 22), (8, 22), (7, 26), (8, 26))


def rug(cloth: str) -> Canvas:
    c = Canvas(2, 2).soft(2, 4, 28, 24, cloth, f"{cloth} dark").box(5, 7, 22, 18, "cream", f"{cloth} light")
    c.box(7, 9, 18, 14, cloth)
    for reach in range(6):
        c.box(16 - 2 * reach, 10 + reach, 4 * reach or 1, 1, "yellow")
        c.box(16 - 2 * reach, 21 - reach, 4 * reach or 1, 1, "yellow")
    c.round(12, 12, 8, 8, f"{cloth} dark")
    return c.dots("cream", *((x, y) for x in (1, 30) for y in range(6, 27, 3)))


def mat() -> Canvas:
    return Canvas().soft(2, 3, 12, 10, "blue light", "blue").box(4, 5, 8, 1, "white").box(4, 10, 8, 1, "white")


def shower() -> Canvas:
    c = Canvas(1, 2).box(0, 2, 16, 29, "aqua", "steel").box(1, 3, 14, 12, "aqua dark")
    c.box(2, 18, 12, 11, "white", "grey")
    c.box(4, 4, 1, 11, "steel").box(4, 4, 6, 1, "steel").box(8, 5, 4, 2, "grey dark")
    c.dots("water", (8, 9), (10, 8), (9, 12), (11, 11), (10, 15), (8, 17))
    return c.round(6, 21, 4, 4, "grey").box(1, 3, 2, 26, "glass").box(13, 3, 2, 26, "glass")


def toilet() -> Canvas:
    c = Canvas(1, 2).round(3, 26, 11, 5, "shadow").soft(3, 10, 10, 9, "white", "ink").box(4, 11, 8, 2, "grey light")
    return c.round(2, 17, 12, 13, "white", "ink").round(5, 19, 6, 7, "water light", "grey").box(7, 14, 2, 1, "steel")


def basin() -> Canvas:
    c = Canvas(1, 2).box(3, 1, 10, 9, "water light", "wood light").box(5, 3, 2, 4, "white")
    c.box(6, 24, 5, 7, "grey light", "ink").soft(1, 15, 14, 11, "white", "ink")
    return c.round(3, 17, 10, 6, "water light", "grey").box(7, 14, 2, 4, "steel").box(11, 14, 2, 2, "pink")


def television() -> Canvas:
    c = Canvas(2, 2).box(1, 30, 31, 2, "shadow").box(1, 20, 30, 11, "wood", "ink").box(2, 21, 28, 2, "wood light")
    c.box(4, 25, 10, 4, "wood dark").box(18, 25, 10, 4, "wood dark")
    c.soft(5, 3, 22, 16, "black", "ink").box(7, 5, 18, 11, "blue dark").box(8, 6, 5, 3, "blue")
    c.box(13, 18, 6, 3, "ink")
    return c.dots("yellow", (9, 27), (22, 27)).dots("red light", (24, 17))


def couch() -> Canvas:
    """A couch seen from behind: whoever sits on it looks north."""
    c = Canvas(2).box(1, 14, 31, 2, "shadow").soft(0, 2, 32, 10, "blue dark", "ink")
    c.box(4, 1, 12, 7, "blue light", "blue dark").box(16, 1, 12, 7, "blue light", "blue dark")
    c.soft(0, 7, 32, 8, "blue", "ink").box(2, 9, 28, 1, "blue light").soft(0, 1, 5, 13, "blue", "ink")
    return c.soft(27, 1, 5, 13, "blue", "ink")


def armchair() -> Canvas:
    c = Canvas(1, 2).box(1, 30, 14, 2, "shadow").soft(2, 10, 12, 12, "green", "ink")
    c.box(4, 12, 8, 2, "green light").box(3, 19, 10, 7, "green light", "green dark")
    c.soft(0, 16, 5, 14, "green", "ink").soft(11, 16, 5, 14, "green", "ink")
    return c.box(4, 26, 8, 4, "green dark", "ink")


ROOMS: dict[str, Sprite] = {
    "armchair": made(armchair, 1, "."),
    "basin": made(basin, 1),
    "bed blue": made(lambda: bed(1, "blue"), 1, ".", "#"),
    "bed green": made(lambda: bed(1, "green"), 1, ".", "#"),
    "bookshelf": made(lambda: shelf(1, 21), 1),
    "closet": made(closet, 1),
    "computer desk": made(computer_desk, 1),
    "couch": made(couch, 0, ".."),
    "cupboard": made(cupboard, 1),
    "desk": made(desk, 1),
    "double bed": made(lambda: bed(2, "pink"), 1, "..", "##"),
    "mat": made(mat, 0, "."),
    "reading table": made(reading_table),
    "rug": made(lambda: rug("red"), 0, "..", ".."),
    "rug blue": made(lambda: rug("blue"), 0, "..", ".."),
    "rug green": made(lambda: rug("green"), 0, "..", ".."),
    "shelf fiction": made(lambda: shelf(3, 33), 1),
    "shelf history": made(lambda: shelf(3, 31), 1),
    "shelf science": made(lambda: shelf(3, 32), 1),
    "shower": made(shower, 1, "."),
    "television": made(television, 1),
    "toilet": made(toilet, 1, "."),
}
