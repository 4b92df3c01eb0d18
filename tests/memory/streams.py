"""Random streams and cosines for tests, with ties of every sort."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from localville.clock import SimTime
from localville.memory.stream import Memory, MemoryKind, MemoryStream

START = SimTime.of("2023-02-13", "06:00")
SIZES = (1, 2, 3, 5, 8, 13, 40)


def random_stream(dice: random.Random) -> MemoryStream:
    """1 to 40 memories; in some streams all were accessed at one moment, in some all have one rating."""
    stream = MemoryStream("Ada")
    size, span = dice.choice(SIZES), dice.choice((600, 86_400, 10_000_000))
    moments = (
        [10 * dice.randrange(span // 10)] * size if dice.random() < 0.15 else dice.choices(range(0, span, 10), k=size)
    )
    ratings = [dice.randint(1, 10)] * size if dice.random() < 0.15 else dice.choices(range(1, 11), k=size)
    for number, (moment, rating) in enumerate(zip(moments, ratings, strict=True), 1):
        stream.restore(Memory(number, MemoryKind.OBSERVATION, "seen", START, START + moment, rating))
    return stream


def random_cosines(dice: random.Random, size: int) -> list[float]:
    """Any from -1 to 1 that float32 holds, or multiples of ⅛ (many ties), or all alike."""
    match dice.choice(("any", "steps", "alike")):
        case "any":
            return np.array([dice.uniform(-1, 1) for _ in range(size)], dtype=np.float32).tolist()
        case "steps":
            return [dice.randint(-8, 8) / 8 for _ in range(size)]
        case _:
            return [0.25] * size


def exact_vector(dice: random.Random) -> NDArray[np.float32]:
    """float32[16] of length 1 with entries ±¼: every dot product is a multiple of ⅛, in whatever order it is summed."""
    bits = dice.getrandbits(16)
    return np.array([0.25 if bits >> i & 1 else -0.25 for i in range(16)], dtype=np.float32)
