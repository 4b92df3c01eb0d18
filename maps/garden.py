"""The furniture of gardens and streets: trees, benches, flowers, lamps; painted like the rooms' in `sprites.py`."""

from __future__ import annotations

from paint import Canvas, noise
from sprites import Sprite, made


def crown(c: Canvas, place: tuple[int, int, int, int], salt: int, fruit: str = "") -> Canvas:
    """A tree's leaves in a box: dark below, lit from the north-west."""
    x, y, width, height = place
    c.round(x, y, width, height, "leaf", "leaf dark")
    c.round(x + 2, y + height // 2, width - 4, height // 2 - 1, "leaf dark")
    c.round(x + 1, y + 1, width - 3, height * 2 // 3, "leaf")
    c.round(x + 3, y + 2, width // 2, height // 2 - 1, "leaf light")
    for spot in range(width):
        a, b = x + 3 + noise(spot, salt, 1) % (width - 6), y + 2 + noise(spot, salt, 2) % (height - 5)
        c.box(a, b, 2, 1, "leaf dark" if spot % 3 == 0 else "leaf").dots("leaf light", (a + 1, b - 1))
        if fruit and spot % 5 == 0:
            c.box(a, b, 2, 2, fruit)
    return c


def tree(salt: int, fruit: str = "") -> Canvas:
    c = Canvas(1, 2).round(2, 26, 13, 6, "shadow").box(6, 20, 4, 10, "wood dark", "ink")
    c.dots("wood", (7, 24), (7, 26))
    return crown(c, (0, 2, 16, 21), salt, fruit)


def fir() -> Canvas:
    c = Canvas(1, 2).round(2, 26, 13, 6, "shadow").box(7, 25, 3, 5, "wood dark")
    for step, (top, half) in enumerate(((3, 4), (9, 6), (16, 7))):
        for row in range(10):
            wide = max(1, half * (row + 2) // 11)
            c.box(8 - wide, top + row, wide * 2, 1, "leaf dark")
            c.box(8 - wide + 1, top + row, max(1, wide - 1), 1, "leaf")
        c.dots("leaf light", (6, top + 6), (5, top + 8), (7, top + 4 + step % 2))
    return c


def oak() -> Canvas:
    c = Canvas(2, 3).round(3, 38, 27, 10, "shadow").box(12, 30, 8, 15, "wood dark", "ink").box(14, 32, 2, 11, "wood")
    c.box(10, 43, 4, 2, "ink").box(18, 43, 4, 2, "ink")
    crown(c, (0, 10, 20, 24), 4)
    crown(c, (12, 11, 20, 24), 5)
    return crown(c, (5, 1, 22, 24), 6)


def bush() -> Canvas:
    c = Canvas().round(1, 10, 15, 6, "shadow")
    crown(c, (1, 2, 14, 13), 7)
    return c.dots("pink", (5, 6), (10, 9)).dots("white", (8, 5), (4, 10))


def bench() -> Canvas:
    c = Canvas(2).box(2, 14, 29, 2, "shadow").box(3, 10, 2, 5, "ink").box(27, 10, 2, 5, "ink")
    c.soft(1, 1, 30, 6, "wood", "ink").box(2, 3, 28, 1, "wood dark")
    return c.soft(1, 6, 30, 6, "wood light", "ink").box(2, 8, 28, 1, "wood")


def picnic_table() -> Canvas:
    c = Canvas(2).box(2, 14, 29, 2, "shadow").soft(2, 0, 28, 4, "wood", "ink").soft(2, 11, 28, 4, "wood", "ink")
    c.soft(0, 2, 32, 10, "wood light", "ink").box(1, 5, 30, 1, "wood").box(1, 8, 30, 1, "wood")
    c.box(11, 3, 10, 7, "red light")
    return c.dots("white", *((x, y) for y in range(3, 10, 2) for x in range(11 + y // 2 % 2, 21, 2)))


def flower_bed() -> Canvas:
    c = Canvas(2).soft(1, 2, 30, 13, "wood dark", "ink").box(2, 3, 28, 10, "oak dark")
    for at, x in enumerate(range(4, 29, 4)):
        for row in range(2):
            y, petal = (
                5 + row * 5 + at % 2,
                ("red light", "yellow", "pink light", "white", "violet")[(at + row * 2) % 5],
            )
            c.dots("leaf light", (x, y + 2)).dots("leaf", (x - 1, y + 2), (x + 1, y + 2))
            c.dots(petal, (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)).dots("orange", (x, y))
    return c


def pond() -> Canvas:
    """Lilies and ducks; the water below is ground."""
    c = Canvas(5, 4)
    for x, y in ((12, 14), (58, 46), (64, 40), (20, 48)):
        c.round(x, y, 7, 5, "green", "green dark").dots("water", (x + 4, y + 1), (x + 5, y + 1))
    c.dots("pink", (15, 15), (61, 47)).dots("pink light", (16, 15), (62, 47))
    for x, y, body in ((34, 22, "white"), (46, 30, "wood"), (28, 36, "white")):
        c.soft(x, y, 9, 5, body, "ink").soft(x + 6, y - 4, 5, 5, "green dark" if body == "wood" else body, "ink")
        c.dots("orange", (x + 11, y - 2), (x + 10, y - 2)).box(x - 1, y + 5, 11, 1, "water light")
    return c


def lamp() -> Canvas:
    c = Canvas(1, 2).round(4, 27, 9, 4, "shadow").box(7, 12, 2, 18, "ink").box(6, 27, 4, 3, "black")
    c.box(6, 11, 4, 1, "ink")
    return c.soft(5, 3, 6, 8, "yellow", "ink").box(6, 5, 2, 4, "white").box(4, 2, 8, 2, "ink")


def mailbox() -> Canvas:
    return (
        Canvas(1, 2)
        .box(7, 24, 2, 7, "wood dark")
        .soft(4, 17, 8, 8, "red", "ink")
        .box(5, 18, 6, 2, "red light")
        .box(11, 15, 1, 4, "yellow")
    )


GARDEN: dict[str, Sprite] = {
    "apple tree": made(lambda: tree(3, "red"), 1),
    "bench": made(bench, 0, ".."),
    "bush": made(bush),
    "fir": made(fir, 1),
    "flower bed": made(flower_bed),
    "lamp": made(lamp, 1),
    "mailbox": made(mailbox, 1),
    "oak": made(oak, 1),
    "picnic table": made(picnic_table),
    "pond": made(pond),
    "tree": made(lambda: tree(2), 1),
}
