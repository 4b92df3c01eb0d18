"""Sampling: one token out of masked logits, with seeded chance.

Only allowed tokens are looked at, in float64, so a draw is a pure function of the logits' bits and the generator.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from localville.errors import EngineError

_UNLIKELY = 1e-4
"""Share of the likeliest token's weight below which tokens are left out of sorting, if the others suffice."""


def pick(
    logits: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    chance: np.random.Generator,
    *,
    temperature: float = 0.0,
    top_p: float = 1.0,
    penalty: float = 1.0,
    written: Collection[int] = (),
) -> int:
    """Picks a token. logits: float32[n_vocab]; allowed: bool[n_vocab].

    In this order: mask, repetition penalty over the tokens in ``written``, temperature, top-p. Temperature 0 takes the
    best token, of equals the one with the lowest id, and draws nothing.
    """
    tokens = np.flatnonzero(allowed[: len(logits)])
    if not len(tokens):
        raise EngineError("the grammar allows no token here")
    scores = logits[tokens].astype(np.float64)
    if penalty != 1.0 and written:
        _penalise(tokens, scores, sorted(set(written)), penalty)
    if temperature == 0:
        return int(tokens[np.argmax(scores)])
    weights = np.exp((scores - scores.max()) / temperature)
    weights /= weights.sum()
    if top_p < 1:
        tokens, weights = _nucleus(tokens, weights, top_p)
    return int(tokens[draw(weights, chance)])


def draw(weights: NDArray[np.float64], chance: np.random.Generator) -> int:
    """Draws an index in proportion to its weight, by one uniform number."""
    edges = np.cumsum(weights)
    # Rounding may leave the last edge below the number drawn; then the last index with any weight is meant.
    return int(np.searchsorted(edges, chance.random() * edges[-1], side="right").clip(0, np.flatnonzero(weights)[-1]))


def _penalise(tokens: NDArray[np.int64], scores: NDArray[np.float64], written: list[int], penalty: float) -> None:
    """Divides the scores of written tokens, or multiplies them if negative, in place. tokens: rising."""
    places = np.searchsorted(tokens, written).clip(0, len(tokens) - 1)
    again = places[tokens[places] == written]
    scores[again] = np.where(scores[again] > 0, scores[again] / penalty, scores[again] * penalty)


def _nucleus(
    tokens: NDArray[np.int64], weights: NDArray[np.float64], top_p: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Keeps the fewest likeliest tokens whose weights reach ``top_p``; ties go to the lower id. tokens: rising."""
    # Sorting 20 thousand weights takes longer than all the rest; mostly those worth looking at are few.
    likely = np.flatnonzero(weights > weights.max() * _UNLIKELY)
    if weights[likely].sum() < top_p:
        likely = np.arange(len(weights))
    order = likely[np.argsort(-weights[likely], kind="stable")]
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), top_p)) + 1]
    return tokens[kept], weights[kept]
