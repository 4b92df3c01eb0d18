"""Strands: the token sequences an ask sends through the model. A writing ask has one, a scored ask one a text.

A strand is a prefix and a program. The program receives the logits behind the prefix, says what to feed next, receives
the logits of that, and so on until it has its result. Which strands share a ``llama_decode`` is not its business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from localville.chance import rng, seed_for
from localville.llm.constraints import Matcher
from localville.llm.engine import Fill, Write
from localville.llm.sampling import pick
from localville.llm.scoring import log_probabilities
from localville.llm.slots import Prefix, chunks


@dataclass(frozen=True, slots=True)
class Feed:
    """Tokens to read next, one piece of the grid; ``every`` wants the logits of each, else of the last."""

    tokens: Sequence[int]
    every: bool = False


class Program(Protocol):
    """What a strand does behind its prefix."""

    def take(self, logits: NDArray[np.float32]) -> Feed | None:
        """Receives logits, float32[wanted rows, n_vocab], valid during the call only; None ends the strand."""
        ...


@dataclass
class Stats:
    """Counts an engine's work. Seconds are wall time; tokens are rows really computed unless they say otherwise."""

    asks: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    """As seen by the model: reused + prefilled."""
    reused_tokens: int = 0
    forced_tokens: int = 0
    generated_tokens: int = 0
    calls: int = 0
    """Calls of llama_decode."""
    prefill_rows: int = 0
    decode_rows: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    restore_seconds: float = 0.0
    mask_seconds: float = 0.0
    sample_seconds: float = 0.0
    score_seconds: float = 0.0


@dataclass(eq=False)
class Strand:
    """One sequence. ``make`` makes its program anew whenever the strand starts from its beginning."""

    order: tuple[int, int]
    """Ticket and index in the ask: the order in which strands take lanes."""
    prefix: Prefix
    make: Callable[[], Program]
    keep_end: bool = False
    """Whether the state at the prefix's end is worth keeping: it ends in a constant text, not in a situation."""
    held: bytes | None = None
    """The cut up to which other strands of the same ask go the same way."""
    program: Program | None = None
    prefilled: int = 0
    """Tokens of the prefix that had to be read."""
    done: bool = False


@dataclass(eq=False)
class Scoring:
    """Reads a tail and notes log P of some tokens behind the prefix and behind each token of the tail.

    ``wanted[i]`` belongs to the row that has read i tokens of the tail; ``found[i]``: float64[len(wanted[i])].
    """

    tail: tuple[int, ...]
    wanted: tuple[tuple[int, ...], ...]
    stats: Stats
    found: list[NDArray[np.float64]] = field(default_factory=list)
    _pieces: list[Sequence[int]] = field(init=False)

    def __post_init__(self) -> None:
        self._pieces = chunks(self.tail)[::-1]

    def take(self, logits: NDArray[np.float32]) -> Feed | None:
        start = perf_counter()
        for row in logits:
            self.found.append(log_probabilities(row, self.wanted[len(self.found)]))
        self.stats.score_seconds += perf_counter() - start
        return Feed(self._pieces.pop(), every=True) if self._pieces else None


@dataclass(eq=False)
class Writing:
    """Writes an answer token by token under a matcher's mask; tokens without alternative are read without drawing."""

    form: Write | Fill
    matcher: Matcher
    seed: int
    attempt: int
    ends: frozenset[int]
    words: frozenset[int]
    """Tokens that a repetition penalty may count as said: not names, figures, line ends and small words."""
    before: frozenset[int]
    """Tokens that were said before this answer."""
    stats: Stats
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    generated: int = 0
    finished: bool = False
    """Whether the answer is whole; if not when the strand is done, the budget cut it off."""
    _backlog: list[Sequence[int]] = field(default_factory=list)
    _begun: bool = False
    _said: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._said = set(self.before & self.words)
        # The first attempt draws from the ask's own seed, so a trace shows it.
        self._chance = rng(seed_for(self.seed, self.attempt) if self.attempt else self.seed)

    def take(self, logits: NDArray[np.float32]) -> Feed | None:
        if self._backlog:
            return Feed(self._backlog.pop())
        fresh: list[int] = []
        if self._begun or not self._force(fresh):
            token = self._sample(logits[-1])
            self._begun = True
            if token in self.ends:
                self.finished = True
                return None
            self._commit(token, fresh)
            self.generated += 1
            self._force(fresh)
        self._begun = True
        if self.matcher.done():
            self.finished = True
            return None
        if len(self.tokens) >= self.form.max_tokens:
            self.finished = self.matcher.accepting()
            return None
        self._backlog = chunks(fresh)[::-1]
        return Feed(self._backlog.pop())

    def _sample(self, logits: NDArray[np.float32]) -> int:
        start = perf_counter()
        mask = self.matcher.mask()
        masked = perf_counter()
        token = pick(
            logits,
            mask,
            self._chance,
            temperature=self.form.temperature,
            top_p=self.form.top_p,
            penalty=self.form.repetition_penalty if isinstance(self.form, Write) else 1.0,
            written=self._said,
        )
        self.stats.mask_seconds += masked - start
        self.stats.sample_seconds += perf_counter() - masked
        return token

    def _force(self, fresh: list[int]) -> bool:
        """Commits what the grammar leaves no choice about, within the budget; says whether there was any."""
        any_forced = False
        while len(self.tokens) < self.form.max_tokens and not self.matcher.done():
            forced = [token for token in self.matcher.forced() if token not in self.ends]
            if not forced:
                break
            for token in forced[: self.form.max_tokens - len(self.tokens)]:
                self._commit(token, fresh)
                self.forced += 1
                any_forced = True
        return any_forced

    def _commit(self, token: int, fresh: list[int]) -> None:
        self.matcher.commit(token)
        self.tokens.append(token)
        if token in self.words:
            self._said.add(token)
        fresh.append(token)
