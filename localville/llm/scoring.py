"""Scoring: choices and ratings from log probabilities, without generating. Pure arithmetic; the model is elsewhere.

Options are laid out as a tree of tokens (``OptionTree``), so a start that several options share is read once and an
option of one token costs nothing beyond the prompt. Where one option is the beginning of another ("1" and "10"), the
shorter one also has to *end*: its score includes log(1 - P(any token by which an option goes on)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from localville.llm.sampling import draw

Path: TypeAlias = tuple[int, ...]
"""Tokens from the end of the prompt to a node of the tree."""

_LEAST = 1e-12
"""What is left for ending when rounding says the ways on have all the probability."""


def log_probabilities(logits: NDArray[np.float32], tokens: Sequence[int]) -> NDArray[np.float64]:
    """log P of some tokens. logits: float32[n_vocab] → float64[len(tokens)]; summed in float64 over the whole row."""
    row = logits.astype(np.float64)
    top = row.max()
    return np.asarray(row[list(tokens)] - (top + np.log(np.exp(row - top).sum())))


@dataclass(frozen=True)
class OptionTree:
    """Options as token sequences, seen as a tree. ``children[path]`` are the tokens that go on from a node, rising."""

    options: tuple[Path, ...]
    children: Mapping[Path, tuple[int, ...]]
    tails: tuple[Path, ...]
    """What must be read behind the prompt so that every inner node is passed: inner nodes below which none lies."""

    @classmethod
    def of(cls, options: Sequence[Path]) -> OptionTree:
        ways: dict[Path, set[int]] = {(): set()}
        for option in options:
            for depth, token in enumerate(option):
                ways.setdefault(option[:depth], set()).add(token)
        inner = sorted(ways)
        # In sorted order a node's descendants follow it directly.
        tails = [a for a, b in zip(inner, [*inner[1:], ()], strict=True) if a and b[: len(a)] != a]
        return cls(tuple(options), {path: tuple(sorted(ways[path])) for path in inner}, tuple(tails))

    def scores(self, found: Mapping[Path, NDArray[np.float64]], *, per_token: bool = False) -> NDArray[np.float64]:
        """log P of each option; ``found[path]`` holds log P of ``children[path]``, float64[len(children)]."""
        step = {
            (*path, token): float(value)
            for path, tokens in self.children.items()
            for token, value in zip(tokens, found[path], strict=True)
        }
        totals = []
        for option in self.options:
            total = sum(step[option[: depth + 1]] for depth in range(len(option)))
            if option in self.children:
                total += float(np.log(max(1.0 - float(np.exp(found[option]).sum()), _LEAST)))
            totals.append(total / max(len(option), 1) if per_token else total)
        return np.array(totals)


def probabilities(scores: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """softmax(scores / temperature). At temperature 0 the untempered distribution is told, though the best is taken."""
    weights = np.exp((scores - scores.max()) / (temperature or 1.0))
    return np.asarray(weights / weights.sum())


def choose(shares: NDArray[np.float64], temperature: float, chance: np.random.Generator) -> int:
    """The index chosen: the first of the likeliest at temperature 0, a draw otherwise."""
    return draw(shares, chance) if temperature > 0 else int(np.argmax(shares))


def rate(shares: NDArray[np.float64], low: int, temperature: float, chance: np.random.Generator) -> int:
    """The rating: the expectation rounded half up at temperature 0, a draw otherwise."""
    if temperature > 0:
        return low + draw(shares, chance)
    return int(np.floor(low + float(np.dot(shares, np.arange(len(shares)))) + 0.5))


def on_scale(score: float, anchors: Sequence[tuple[float, int]], low: int, high: int) -> float:
    """Maps a channel score to low..high by the scores and ratings of anchors.

    Between anchors it interpolates, beyond them it stays at the last. Where the anchors' scores contradict their
    ratings, neighbours are averaged until they agree (isotonic regression), so a higher score never rates lower.
    """
    xs, levels = _monotone(anchors)
    return float(np.clip(np.interp(score, xs, levels), low, high))


def _monotone(anchors: Sequence[tuple[float, int]]) -> tuple[list[float], list[float]]:
    groups: list[tuple[float, list[float]]] = []  # mean rating, scores
    for score, rating in sorted(anchors):
        groups.append((float(rating), [score]))
        while len(groups) > 1 and (groups[-2][0] > groups[-1][0] or groups[-2][1][-1] == groups[-1][1][0]):
            (right, right_scores), (left, left_scores) = groups.pop(), groups.pop()
            total = len(left_scores) + len(right_scores)
            mean = (left * len(left_scores) + right * len(right_scores)) / total
            groups.append((mean, left_scores + right_scores))
    flat = [(score, mean) for mean, scores in groups for score in dict.fromkeys(scores)]
    return [score for score, _ in flat], [mean for _, mean in flat]


def neighbours(value: float, low: int, high: int) -> NDArray[np.float64]:
    """The distribution on low..high that lies on the two integers beside a value and has it as its mean."""
    shares = np.zeros(high - low + 1)
    below = min(int(np.floor(value)), high - 1)
    shares[below - low] = 1.0 - (value - below)
    shares[below - low + 1] = value - below
    return shares
