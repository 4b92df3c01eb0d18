"""Rough tiles, to be drawn."""

from __future__ import annotations
import zlib
import numpy as np
from pictures import Picture

SIDE = 16


def flat(name: str) -> Picture:
    n = zlib.crc32(name.encode())
    t = np.full((SIDE, SIDE, 4), 255, np.uint8)
    t[..., 0], t[..., 1], t[..., 2] = n & 255, n >> 8 & 255, n >> 16 & 255
    return t


BLOCKED = flat("blocked")


def fabric(kind: str, x: int, y: int, joins: int = 0) -> Picture:
    return flat(kind)
