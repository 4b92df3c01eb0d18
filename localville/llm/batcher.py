"""The batcher: strands in, one ``llama_decode`` after the other, results out.

Lanes are the context's sequences; a strand takes the lowest free one as soon as there is one. Each step joins the lanes
whose next pieces have the same number of rows: pieces of the prompts first, then the single rows of writing, so that as
many lanes as possible write together. Pieces of different length never share a call, for llama.cpp would cut a ragged
batch into pieces of its own, down to one row, and one row is computed by other kernels than many (ENGINE §3).

Nothing here can change an answer, as long as the model's row rule holds: every strand reads the same pieces in the
same order, whoever sits beside it.
"""

from __future__ import annotations

import hashlib
from bisect import insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localville.errors import EngineError
from localville.llm.context import Context, Rows
from localville.llm.prefix_files import PrefixFiles
from localville.llm.selftest import ANY, RowRule
from localville.llm.slots import STABLE, PrefixStore, Snapshot, chunks
from localville.llm.strands import Feed, Stats, Strand

_MOST_LOGITS = 128
"""Rows of a call whose logits are wanted: at 150 thousand tokens of vocabulary they take 80 MB."""


class Trace(NamedTuple):
    """One entry whenever a strand's program receives logits: which strand, and the hash of the logits' bytes."""

    order: tuple[int, int]
    digest: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """The next rows of a lane; ``cut`` is the index of the prefix's cut that they reach, if any."""

    tokens: Sequence[int]
    every: bool = False
    cut: int | None = None


@dataclass(eq=False)
class _Lane:
    number: int
    strand: Strand
    pieces: list[_Piece]
    """In reverse: the next is the last."""
    making: set[bytes] = field(default_factory=set)
    """Keys of the snapshots this lane is about to make."""

    @property
    def rows(self) -> Rows:
        """What this lane wants in its next call."""
        piece = self.pieces[-1]
        return Rows(self.number, piece.tokens, piece.every)


class Batcher:
    """Runs strands on a context's lanes, as the model's row rule allows."""

    def __init__(
        self,
        context: Context,
        store: PrefixStore,
        stats: Stats,
        rule: RowRule = ANY,
        files: PrefixFiles | None = None,
    ) -> None:
        self._context, self._store, self._stats, self._rule, self._files = context, store, stats, rule, files
        self._pending: list[tuple[tuple[int, int], Strand]] = []
        self._lanes: dict[int, _Lane] = {}
        self._wanted: Counter[bytes] = Counter()
        """How many unfinished strands end their prefix at a cut."""
        self.trace: list[Trace] | None = None

    def add(self, strand: Strand) -> None:
        insort(self._pending, (strand.order, strand), key=lambda entry: entry[0])
        self._wanted[strand.prefix.keys[-1]] += 1
        if strand.held and self._rule.restores:
            self._store.hold(strand.held)

    def reset(self) -> None:
        """Forgets all strands; after an interruption nothing is known of the lanes. Kept snapshots stay good."""
        self._pending.clear()
        self._lanes.clear()
        self._wanted.clear()
        self._store.release_all()
        for lane in range(self._context.lanes):
            self._context.clear(lane)

    def step(self) -> list[Strand]:
        """Lets strands take lanes, makes one call, and returns the strands that are done, in their order."""
        finished = self._admit()
        group = self._group()
        if not group and not finished:
            raise EngineError("nothing is left to compute, but an ask is still open")
        if group:
            start = perf_counter()
            logits = self._context.decode([lane.rows for lane in group])
            self._count(group, perf_counter() - start)
            for lane, rows in zip(group, logits, strict=True):
                if self._advance(lane, rows):
                    finished.append(lane.strand)
        return sorted(finished, key=lambda strand: strand.order)

    def _admit(self) -> list[Strand]:
        """Gives free lanes to pending strands, except to those whose prefix another lane is just reading."""
        finished: list[Strand] = []
        waiting = []
        making = {key for lane in self._lanes.values() for key in lane.making}
        for position, (order, strand) in enumerate(self._pending):
            if len(self._lanes) == self._context.lanes:
                waiting += self._pending[position:]
                break
            known = self._known(strand)
            if not making.isdisjoint(strand.prefix.keys[known:]):
                waiting.append((order, strand))
            elif (lane := self._start(strand, known)) is None:
                finished.append(strand)
            else:
                making |= lane.making
        self._pending = waiting
        return finished

    def _known(self, strand: Strand) -> int:
        """The number of leading segments whose state is kept."""
        keys = strand.prefix.keys
        known = next((count for count in range(len(keys), 0, -1) if keys[count - 1] in self._store), 0)
        if known or not self._files or not self._files.lasts(strand.prefix, 0):
            return known
        snapshot = self._files.load(keys[0])
        if snapshot is None or not self._store.wants(keys[0], snapshot.size):
            return 0
        self._store.put(keys[0], snapshot, stable=True)
        return int(keys[0] in self._store)

    def _start(self, strand: Strand, known: int) -> _Lane | None:
        """Puts a strand on a lane; None if it was done without one, from kept logits alone."""
        keys, number = strand.prefix.keys, min(set(range(self._context.lanes)) - self._lanes.keys())
        strand.program = strand.make()
        pieces: list[_Piece] = []
        for index, segment in enumerate(strand.prefix.segments[known:], known):
            *inner, last = chunks(segment.tokens)
            pieces += [*map(_Piece, inner), _Piece(last, cut=index)]
        strand.prefilled = sum(len(piece.tokens) for piece in pieces)
        snapshot = self._store.get(keys[known - 1]) if known else None
        if not pieces:
            assert snapshot is not None
            feed = self._tell(strand, snapshot.logits[None])
            if feed is None:
                self._end(strand)
                return None
            pieces = [_Piece(feed.tokens, feed.every)]
        start = perf_counter()
        if snapshot:
            self._context.load(number, snapshot.state, snapshot.fill)
        else:
            self._context.clear(number)
        self._stats.restore_seconds += perf_counter() - start
        making = {keys[piece.cut] for piece in pieces if piece.cut is not None and self._keeps(strand, piece.cut)}
        lane = self._lanes[number] = _Lane(number, strand, pieces[::-1], making)
        return lane

    def _keeps(self, strand: Strand, cut: int) -> bool:
        """Whether the state at a cut is worth a snapshot."""
        key = strand.prefix.keys[cut]
        inner = cut < len(strand.prefix.segments) - 1
        worth = inner or strand.keep_end or self._wanted[key] > 1
        return worth and self._store.wants(key, self._size(strand.prefix.ends[cut]))

    def _size(self, tokens: int) -> int:
        """About the bytes of a snapshot; its exact size does not matter."""
        return tokens * self._context.bytes_per_token + self._context.n_vocab * 4

    def _group(self) -> list[_Lane]:
        """The lanes of the next call: one number of rows, several before single, the first lane's first."""
        lanes = sorted(self._lanes.values(), key=lambda lane: lane.strand.order)
        if not lanes:
            return []
        first = next((lane for lane in lanes if len(lane.rows.tokens) > 1), lanes[0])
        rows = len(first.rows.tokens)
        same = [lane for lane in lanes if len(lane.rows.tokens) == rows]
        if not self._rule.joins:
            most = self._rule.singles if rows == 1 else 1
        else:
            most = self._context.max_rows // rows
            if any(lane.rows.every for lane in same):
                most = min(most, max(_MOST_LOGITS // rows, 1))
        if rows == 1 and not self._pending:
            self._close_gaps()
        return sorted(same[:most], key=lambda lane: lane.number)

    def _close_gaps(self) -> None:
        """Moves lanes down to the lowest numbers; llama.cpp computes only neighbouring sequences together.

        A gap costs a further pass over the weights at every token, a move a few milliseconds once.
        """
        start = perf_counter()
        for gap in range(len(self._lanes)):
            if gap not in self._lanes:
                lane = self._lanes.pop(max(self._lanes))
                self._context.move(lane.number, gap)
                lane.number = gap
                self._lanes[gap] = lane
        self._stats.restore_seconds += perf_counter() - start

    def _advance(self, lane: _Lane, logits: NDArray[np.float32]) -> bool:
        """Takes what a call has computed for a lane; True if its strand is done."""
        strand, piece = lane.strand, lane.pieces.pop()
        if piece.cut is not None:
            self._keep(lane, piece.cut, logits)
        if lane.pieces:
            return False
        feed = self._tell(strand, logits)
        if feed is None:
            self._end(strand)
            del self._lanes[lane.number]
            return True
        lane.pieces = [_Piece(feed.tokens, feed.every)]
        return False

    def _keep(self, lane: _Lane, cut: int, logits: NDArray[np.float32]) -> None:
        key = lane.strand.prefix.keys[cut]
        if key not in lane.making:
            return
        lane.making.discard(key)
        start = perf_counter()
        fill = self._context.fill[lane.number]
        snapshot = Snapshot(self._context.save(lane.number), fill, logits[-1].copy())
        lasting = self._files is not None and self._files.lasts(lane.strand.prefix, cut)
        self._store.put(key, snapshot, stable=lasting or lane.strand.prefix.segments[cut].name in STABLE)
        if self._files and lasting:
            self._files.save(key, snapshot)
        self._stats.restore_seconds += perf_counter() - start

    def _tell(self, strand: Strand, logits: NDArray[np.float32]) -> Feed | None:
        if self.trace is not None:
            self.trace.append(Trace(strand.order, hashlib.blake2b(np.ascontiguousarray(logits).tobytes()).hexdigest()))
        assert strand.program is not None
        return strand.program.take(logits)

    def _end(self, strand: Strand) -> None:
        strand.done = True
        self._wanted[strand.prefix.keys[-1]] -= 1
        if strand.held and self._rule.restores:
            self._store.release(strand.held)

    def _count(self, group: list[_Lane], seconds: float) -> None:
        rows = sum(len(lane.rows.tokens) for lane in group)
        self._stats.calls += 1
        if len(group[0].rows.tokens) > 1:
            self._stats.prefill_rows += rows
            self._stats.prefill_seconds += seconds
        else:
            self._stats.decode_rows += rows
            self._stats.decode_seconds += seconds
