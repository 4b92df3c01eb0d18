"""Invented people and a small place to live in, for the tests of the mind and of the simulation."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from localville.config import Persona
from localville.world.places import Town
from tests.world.drawing import draw, load, shape

STREET = """
..................
.#####.......####.
.#..#...........#.
.#..#.#......#..#.
.##.#.#......#..#.
..................
..................
"""
"""Two houses on a lawn: a bedroom and a kitchen to the west, a cafe to the east."""


@cache
def street() -> Town:
    """House (bedroom with a bed and a desk, kitchen with a stove), Cafe (counter, four seats) and Lawn (a bench)."""
    drawing = draw(
        STREET,
        sectors=[shape("House", 1, 1, 6, 4), shape("Cafe", 13, 1, 4, 4), shape("Lawn", 8, 5, 4, 2)],
        arenas=[
            shape("bedroom", 2, 2, 2, 2),
            shape("kitchen", 5, 2, 1, 3),
            shape("cafe", 14, 2, 2, 2),
            shape("grass", 8, 5, 4, 2),
        ],
        objects=[
            shape("bed", 2, 2, affords="sleeping", idle="made"),
            shape("desk", 3, 2, affords="writing"),
            shape("stove", 5, 2, affords="cooking", idle="off"),
            shape("counter", 14, 2, affords="buying coffee"),
            shape("table", 15, 2, affords="sitting"),
            shape("piano", 14, 3, affords="playing music"),
            shape("window seat", 15, 3, affords="reading"),
            shape("bench", 9, 5, affords="resting"),
        ],
    )
    with TemporaryDirectory() as folder:
        return load(Path(folder), drawing)


def somebody(name: str = "Ada Lovelace", **changes: Any) -> Persona:
    """A person who lives in the House and works in the Cafe."""
    facts = {
        "name": name,
        "age": 36,
        "traits": "curious, exact",
        "occupation": "a mathematician",
        "lifestyle": f"{name} gets up at 7, works in the cafe and goes to bed at 11",
        "wake": "07:00",
        "sleep": "23:00",
        "concern": f"{name} wants to finish her notes on the engine",
        "home": "House",
        "workplace": "Cafe",
        "memories": f"{name} lives in the House; {name} likes to walk",
    }
    return Persona.model_validate({**facts, **changes})
