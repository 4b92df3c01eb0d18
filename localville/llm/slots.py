"""Prefix reuse: where prompts may be cut, and the states kept at those cuts.

Every prompt is cut in a canonical way that depends on the prompt alone (ENGINE §3): at each part's end, and inside a
part on a grid. A warm run restores the state at a part's end and goes on exactly as the cold run went on there, so
reuse cannot change a bit. Two prompts with the same first parts share the states at their ends.

States are kept in RAM (``llama_state_seq_get_data``), not in spare sequences: copying a sequence inside llama.cpp moves
all cells of a lane, a snapshot only those in use, and RAM has no fixed number of places (docs/log.md).
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

GRID = 32
"""Tokens read at once inside a part. Longer pieces read hardly faster on a CPU (docs/log.md), shorter ones slower."""
STABLE = frozenset({"town", "persona"})
"""Names of parts whose states are given up last: all prompts of a person begin with them."""


def chunks(tokens: Sequence[int]) -> list[Sequence[int]]:
    """Cuts tokens on the grid. A single token left over joins the last piece, for one row is read by another kernel."""
    cuts = list(range(0, len(tokens), GRID))
    if len(cuts) > 1 and len(tokens) - cuts[-1] == 1:
        cuts.pop()
    return [tokens[start:end] for start, end in pairwise([*cuts, len(tokens)])]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part's tokens, its template markers included; never empty."""

    name: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Prefix:
    """What stands before an answer, or before a text that is scored."""

    segments: tuple[Segment, ...]

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        """One key a cut: it names all tokens up to there and how they are cut."""
        digest = hashlib.blake2b(digest_size=16)
        keys = []
        for segment in self.segments:
            digest.update(np.array([len(segment.tokens), *segment.tokens], np.int32).tobytes())
            keys.append(digest.digest())
        return tuple(keys)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Tokens up to each cut."""
        return tuple(accumulate(len(segment.tokens) for segment in self.segments))

    def __len__(self) -> int:
        return self.ends[-1]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A lane's state behind a cut and the logits of its last row, float32[n_vocab]."""

    state: NDArray[np.uint8]
    fill: int
    logits: NDArray[np.float32]

    @property
    def size(self) -> int:
        return self.state.nbytes + self.logits.nbytes


class PrefixStore:
    """Keeps snapshots by key, within a budget of bytes; the least recently used goes first, stable ones last.

    A key may be held: by the scored texts of one ask, which all begin with it. Held snapshots stay whatever the budget.
    """

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self._kept: OrderedDict[bytes, Snapshot] = OrderedDict()
        self._stable: set[bytes] = set()
        self._held: Counter[bytes] = Counter()

    def __contains__(self, key: bytes) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        return sum(snapshot.size for snapshot in self._kept.values())

    def get(self, key: bytes) -> Snapshot:
        self._kept.move_to_end(key)
        return self._kept[key]

    def wants(self, key: bytes, size: int) -> bool:
        """Whether a snapshot of this size would stay."""
        return key not in self._kept and (size <= self.budget_bytes or self.held(key))

    def put(self, key: bytes, snapshot: Snapshot, *, stable: bool) -> None:
        self._kept[key] = snapshot
        if stable:
            self._stable.add(key)
        self._make_room()

    def hold(self, key: bytes) -> None:
        self._held[key] += 1

    def release(self, key: bytes) -> None:
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]
            self._make_room()

    def held(self, key: bytes) -> bool:
        return self._held[key] > 0

    def release_all(self) -> None:
        self._held.clear()
        self._make_room()

    def _make_room(self) -> None:
        excess = self.size - self.budget_bytes
        for key in sorted(self._kept, key=self._stable.__contains__):  # stable sort: the oldest of each kind first
            if excess <= 0:
                return
            if not self.held(key):
                excess -= self._kept.pop(key).size
                self._stable.discard(key)
