"""The self-test: on what do this model's bits depend, on this machine, with this library?

An answer must not depend on what is computed beside it (DESIGN law 3). Whether rows are computed the same way alone and
in company differs by quantization, library and processor, so it is tried at load, and the result is the *row rule*:

    any    any number of rows, any company: lanes are batched (Q8_0, Q4_0, Q4_1 on CPUs)
    alone  bits depend on the number of rows in a call, as with K-quants, whose kernels take rows by groups: every call
           holds one lane's piece, whose shape depends on the ask alone
    cold   not even a restored state goes on as the computed one did: every prompt is read from its beginning
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from localville.llm.context import Context, Rows
from localville.llm.weights import Weights

_TEXT = (
    "The town lies by a small river. Every morning Isabella opens her cafe at seven and greets the people who come in "
    "for coffee. Klaus reads in the corner, and the old painter by the window looks at the square and says nothing."
)
_START = 24
"""Tokens before the rows that are compared."""
_LANES = 5


class RowRule(StrEnum):
    """Names what calls may hold so that bits depend on the ask alone."""

    ANY = "any"
    ALONE = "alone"
    COLD = "cold"


def find_rule(weights: Weights, *, threads: int) -> RowRule:
    """Computes a few rows in different company and compares the bytes of their logits."""
    tokens = weights.tokens(_TEXT)
    context = Context(weights, lanes=_LANES, cells=256, threads=threads)
    try:
        return _find(context, tokens * (1 + 64 // len(tokens)))
    finally:
        context.close()


def _find(context: Context, tokens: tuple[int, ...]) -> RowRule:
    start, piece, after = tokens[:_START], tokens[_START : _START + 8], tokens[_START + 8]

    def read(lane: int, *pieces: tuple[int, ...]) -> list[bytes]:
        return [_bits(context.decode([Rows(lane, rows)])[0]) for rows in pieces]

    read(0, start[:16], start[16:])
    state = context.save(0)
    expected = read(0, piece, (after,))

    def restored(lane: int) -> None:
        context.load(lane, state, _START)

    restored(1)
    if read(1, piece, (after,)) != expected:
        return RowRule.COLD
    # Cut otherwise.
    restored(1)
    if read(1, piece[:3], piece[3:], (after,))[1:] != expected:
        return RowRule.ALONE
    context.clear(2)
    if read(2, start + piece, (after,)) != expected:
        return RowRule.ALONE
    # Every row's logits wanted, or the last one's only.
    restored(1)
    if _bits(context.decode([Rows(1, piece, every=True)])[0][-1:]) != expected[0]:
        return RowRule.ALONE
    # In company, of every size that kernels are known to group by.
    for lanes in (_LANES, 2, 3):
        for lane in range(lanes):
            restored(lane)
        for rows, bits in zip((piece, (after,)), expected, strict=True):
            own = [rows if lane == lanes - 1 else rows[::-1] for lane in range(lanes)]
            logits = context.decode([Rows(lane, own[lane]) for lane in range(lanes)])
            if _bits(logits[-1]) != bits:
                return RowRule.ALONE
    return RowRule.ANY


def _bits(logits: NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(logits).tobytes()
