"""Chance: the only source of randomness, derived by name.

A draw is named by what it is for – ``(run seed, agent, step, purpose, attempt)`` – and never by how many draws came
before it, so the order in which answers arrive cannot change a run (DESIGN law 3). Philox is counter-based: two names
give two independent streams without any shared state.
"""

from __future__ import annotations

import hashlib

import numpy as np

_SEED_BYTES = 8


def seed_for(run_seed: int, *names: str | int) -> int:
    """Derives a 64-bit seed from a run's seed and the names of the draw.

    Every part is written with its type and length, so ``("ab", "c")`` and ``("a", "bc")``, or ``1`` and ``"1"``, differ.
    """
    digest = hashlib.blake2b(digest_size=_SEED_BYTES)
    for part in (run_seed, *names):
        raw = str(part).encode()
        digest.update(f"{type(part).__name__}:{len(raw)}:".encode())
        digest.update(raw)
    return int.from_bytes(digest.digest(), "big")


def rng_for(run_seed: int, *names: str | int) -> np.random.Generator:
    """Makes the generator that belongs to a named draw."""
    return rng(seed_for(run_seed, *names))


def rng(seed: int) -> np.random.Generator:
    """Makes a generator from a derived seed; 0 is a seed like any other."""
    return np.random.Generator(np.random.Philox(key=seed))
