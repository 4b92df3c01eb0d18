"""The self-test: on what do this model's bits depend, on this machine, with this library?

An answer must not depend on what is computed beside it (DESIGN law 3). Whether rows come out the same alone and in
company differs by quantization, library and processor; so it is tried at load, and the result is the *row rule*:

    any      whatever stands beside: all lanes share calls (Q8_0)
    alone    bits depend on the number of rows in a call, as with K-quants, whose kernels take rows by groups: every
             call holds one lane's piece, whose shape depends on the ask alone
    alone:3  the same, but up to three lanes may write together, for single rows come out alike up to that number
    cold     a restored state does not go on as the computed one did: every prompt is read from its beginning

Whatever the rule, an answer depends on ask, seed and model alone; the rule says what that costs.
"""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from localville.assets import cache_dir
from localville.errors import ConfigError
from localville.llm.context import Context, Rows
from localville.llm.library import system_info
from localville.llm.weights import Weights

_TEXT = (
    "The town lies by a small river. Every morning Isabella opens her cafe at seven and greets the people who come in "
    "for coffee. Klaus reads in the corner, and the old painter by the window looks at the square and says nothing."
)
_START = 24
"""Tokens before the rows that are compared."""
_PIECE = 8
"""Rows of a piece. Kernels are known to change at 4 and at 8 rows (docs/log.md)."""
_COMPANY = 8
"""Lanes beside each other; beyond the largest group of any kernel nothing new is expected."""


@dataclass(frozen=True, slots=True)
class RowRule:
    """What a call may hold so that bits depend on the ask alone."""

    joins: bool
    """Whether pieces of several lanes may share a call."""
    singles: int
    """How many lanes may write together, one row each."""
    restores: bool = True
    """Whether a saved state goes on as the computed one."""

    def __str__(self) -> str:
        if self.joins:
            return "any"
        if not self.restores:
            return "cold"
        return f"alone:{self.singles}" if self.singles > 1 else "alone"

    @classmethod
    def parse(cls, text: str) -> RowRule:
        """Reads what ``str`` writes."""
        name, _, singles = text.partition(":")
        if text == "any":
            return ANY
        if text in ("alone", "cold"):
            return cls(False, 1, text == "alone")
        if name != "alone" or not singles.isdecimal() or int(singles) < 2:
            raise ConfigError(f"there is no row rule '{text}'", next="Known are: any, alone, alone:N, cold")
        return cls(False, int(singles))


ANY = RowRule(True, _COMPANY)


def known_rule(weights: Weights, *, threads: int) -> RowRule:
    """The rule found here before for this file, library, processor and settings; finds and notes it the first time.

    Finding it costs a 1.5B model some seconds, and an interview should not wait for that. The note is a cache: it may
    be deleted at any time, and a folder that cannot be written only costs the seconds again.
    """
    mark = machine_mark(weights, threads=threads)
    path = cache_dir() / "row-rules.json"
    notes: dict[str, str] = {}
    with suppress(OSError, ValueError):
        notes = dict(json.loads(path.read_text(encoding="utf-8")))
    if mark in notes:
        with suppress(ConfigError):
            return RowRule.parse(notes[mark])
    rule = find_rule(weights, threads=threads)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(notes | {mark: str(rule)}, indent=1), encoding="utf-8")
        new.replace(path)
    return rule


def machine_mark(weights: Weights, *, threads: int) -> str:
    """Names all on which the bits of a computed row depend: file, settings, library and machine."""
    stat = weights.path.stat()
    library = f"llama-cpp-python {version('llama_cpp_python')} {system_info()}"
    file = f"{weights.path.name} {stat.st_size} {stat.st_mtime_ns}"
    return f"{file} {weights.settings} {threads} {library} {platform.processor()} {platform.node()}"


def find_rule(weights: Weights, *, threads: int) -> RowRule:
    """Computes a few rows in different company and compares the bytes of their logits; some 150 rows at most."""
    tokens = weights.tokens(_TEXT)
    context = Context(weights, lanes=_COMPANY, cells=256, threads=threads)
    try:
        return _Trial(context, tokens * (1 + 2 * (_START + _PIECE) // len(tokens))).rule()
    finally:
        context.close()


class _Trial:
    def __init__(self, context: Context, tokens: tuple[int, ...]) -> None:
        self._context = context
        self._start, self._piece = tokens[:_START], tokens[_START : _START + _PIECE]
        self._single = tokens[_START + _PIECE : _START + _PIECE + 1]

    def rule(self) -> RowRule:
        self._read(0, self._start[:16], self._start[16:])
        self._state = self._context.save(0)
        self._piece_bits, self._single_bits = self._read(0, self._piece, self._single)
        self._restore(1)
        if self._read(1, self._piece, self._single) != [self._piece_bits, self._single_bits]:
            return RowRule(joins=False, singles=1, restores=False)
        self._state_after = self._after(1)
        joins = self._every_alike() and self._cut_alike() and self._pieces_alike(3) and self._pieces_alike(2)
        singles = 1
        while singles < _COMPANY and self._singles_alike(singles + 1):
            singles += 1
        return ANY if joins and singles == _COMPANY else RowRule(joins=False, singles=singles)

    def _read(self, lane: int, *pieces: tuple[int, ...]) -> list[bytes]:
        return [_bits(self._context.decode([Rows(lane, rows)])[0]) for rows in pieces]

    def _restore(self, lane: int) -> None:
        self._context.load(lane, self._state, _START)

    def _after(self, lane: int) -> NDArray[np.uint8]:
        """The state behind start and piece."""
        self._restore(lane)
        self._read(lane, self._piece)
        return self._context.save(lane)

    def _every_alike(self) -> bool:
        """Every row's logits wanted, or the last one's only."""
        self._restore(1)
        return _bits(self._context.decode([Rows(1, self._piece, every=True)])[0][-1:]) == self._piece_bits

    def _cut_alike(self) -> bool:
        """The same tokens cut otherwise."""
        self._restore(1)
        *_, last = self._read(1, self._piece[:3], self._piece[3:])
        self._context.clear(2)
        return last == self._piece_bits and self._read(2, self._start + self._piece) == [self._piece_bits]

    def _pieces_alike(self, lanes: int) -> bool:
        for lane in range(lanes):
            self._restore(lane)
        company = [self._piece[::-1]] * (lanes - 1)
        logits = self._context.decode([Rows(lane, rows) for lane, rows in enumerate([*company, self._piece])])
        return _bits(logits[-1]) == self._piece_bits

    def _singles_alike(self, lanes: int) -> bool:
        for lane in range(lanes):
            self._context.load(lane, self._state_after, _START + _PIECE)
        company = [self._piece[lane : lane + 1] for lane in range(lanes - 1)]
        logits = self._context.decode([Rows(lane, rows) for lane, rows in enumerate([*company, self._single])])
        return _bits(logits[-1]) == self._single_bits


def _bits(logits: NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(logits).tobytes()
