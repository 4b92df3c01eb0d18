"""The seam to the model: what the mind may ask, what comes back, and what any engine must do.

An engine answers a question in one of four forms. Every answer fits its form by construction (DESIGN law 4):

    Choose   one of n texts            scored, not generated; the answer carries every option's probability
    Rate     an integer low..high      scored, not generated; the answer carries the distribution
    Write    text under a grammar      generated under a token mask
    Fill     a pydantic model          generated as compact, bounded JSON

``tests/contracts.py`` checks any implementation; ``scripted.py`` is the one that ships for tests and development.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel

from localville.errors import GrammarError


class Role(StrEnum):
    """Says how a prompt part is put to the model: inside a chat turn, or as plain text to be continued."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a prompt. ``name`` says how stable it is: town, persona, task, situation.

    A part is the unit of prefix reuse: it is tokenised by itself, so its tokens never depend on its neighbours.
    End parts at a line end. Consecutive parts of one role belong to one chat turn. The text is data: template markers
    or special tokens written in it are never read as such.
    """

    name: str
    text: str
    role: Role = Role.TEXT

    @property
    def key(self) -> str:
        """A stable identity for caches and the record: hash of role and text."""
        return hashlib.blake2b(f"{self.role}\0{self.text}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Prompt:
    """Ordered parts, most stable first: town, persona, task, situation.

    A prompt ends where the answer begins. With chat roles, a last part of role ASSISTANT is the beginning of the
    answer; otherwise the engine opens the assistant's turn itself. TEXT parts are not put into a template at all;
    a prompt uses either chat roles or TEXT, never both.
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a prompt needs at least one part")
        if len({part.role is Role.TEXT for part in self.parts}) != 1:
            raise ValueError("a prompt uses chat roles or plain text, not both")

    @cached_property
    def key(self) -> str:
        return hashlib.blake2b("/".join(part.key for part in self.parts).encode(), digest_size=16).hexdigest()

    def text(self) -> str:
        """The parts joined, for people and logs."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True)
class Choose:
    """Picks one of n texts by probability, without generating.

    Plain: an option's score is log P(option | prompt), divided by its number of tokens when ``per_token``; with
    ``baseline`` (a content-free twin of the prompt) log P(option | baseline) is subtracted.
    Channel: with ``framings`` (one text an option), the score is log P(situation | parts before it + framing), where
    the situation is the prompt's last part; options and framings correspond by position.
    ``prior`` adds a constant to each option's score (say, for staying in the current area).
    Probabilities are softmax(score / temperature); temperature 0 takes the best, the first of equals.
    """

    options: tuple[str, ...]
    temperature: float = 0.0
    framings: tuple[str, ...] | None = None
    baseline: Prompt | None = None
    prior: tuple[float, ...] | None = None
    per_token: bool = False

    def __post_init__(self) -> None:
        if not self.options:
            raise GrammarError("a choice needs at least one option")
        if len(set(self.options)) != len(self.options):
            raise GrammarError(f"a choice offers the same option twice: {self.options}")
        for name in ("framings", "prior"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.options):
                raise GrammarError(f"a choice has {len(self.options)} options but {len(values)} {name}")


@dataclass(frozen=True)
class Rate:
    """Rates from ``low`` to ``high``, without generating.

    Plain: the probabilities of the written numbers after the prompt, corrected by ``baseline`` as in Choose.
    Channel: with ``dull`` and ``vivid`` framings, the score is the mean log P(situation | vivid) minus the mean
    log P(situation | dull), mapped to the scale by linear interpolation between the scores of ``anchors``
    (text, rating), which are scored the same way once per engine. The distribution then lies on the two neighbouring
    integers and has the mapped value as its mean.
    The value is the rounded expectation at temperature 0, a draw otherwise.
    """

    low: int = 1
    high: int = 10
    temperature: float = 0.0
    baseline: Prompt | None = None
    dull: tuple[str, ...] = ()
    vivid: tuple[str, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise GrammarError(f"a rating needs low < high, not {self.low}..{self.high}")
        if bool(self.dull) != bool(self.vivid) or (self.dull and len(self.anchors) < 2):
            raise GrammarError("a channel rating needs dull and vivid framings and at least two anchors")


@dataclass(frozen=True)
class Grammar:
    """A GBNF grammar with the name it has in accounts: a file of `grammars/`, or one built from the world."""

    name: str
    gbnf: str

    @property
    def key(self) -> str:
        return hashlib.blake2b(self.gbnf.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Write:
    """Writes text held to a grammar. ``max_tokens`` must suffice for every text the grammar allows that the mind wants.

    ``repetition_penalty`` divides (or multiplies, if negative) the logits of words written before in this answer.
    Line ends, figures, names and words of up to three letters are not counted: with them, lines run on to their limit
    (docs/log.md).
    """

    grammar: Grammar
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    said: tuple[str, ...] = ()
    """Texts whose words count as written before."""


@dataclass(frozen=True)
class Fill:
    """Fills a pydantic model, as compact JSON whose strings and lists must be bounded."""

    model: type[BaseModel]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0


Form: TypeAlias = Choose | Rate | Write | Fill


@dataclass(frozen=True)
class Ask:
    """What the mind wants to know. ``purpose`` names it in accounts, seeds and profiles (``plan.day``, ``place``)."""

    purpose: str
    prompt: Prompt
    form: Form


@dataclass(frozen=True)
class Tokens:
    """Counts one answer's tokens: prompt (as seen by the model) = reused + prefilled; forced and generated: the answer's.

    For scored forms ``prompt`` counts every token of every scored text once per option, so a shared prefix shows as reuse.
    """

    prompt: int = 0
    reused: int = 0
    forced: int = 0
    generated: int = 0


@dataclass(frozen=True)
class Answer:
    """What comes back. ``value`` is an option (str), a rating (int), text (str) or a filled model (BaseModel)."""

    value: Any
    probabilities: tuple[float, ...] | None = None
    scores: tuple[float, ...] | None = None
    tokens: Tokens = field(default_factory=Tokens)
    seconds: float = 0.0
    attempt: int = 0

    @property
    def text(self) -> str:
        """The value as text for the record."""
        return self.value.model_dump_json() if isinstance(self.value, BaseModel) else str(self.value)


Ticket: TypeAlias = int
"""Names a submitted ask; tickets of an engine grow by one."""


class Engine(Protocol):
    """Answers asks. Several may be under way; each answer depends on its ask and seed alone (DESIGN law 3)."""

    def submit(self, ask: Ask, seed: int) -> Ticket:
        """Takes an ask. Raises AskTooLong when it cannot fit the context."""
        ...

    def poll(self) -> list[tuple[Ticket, Answer]]:
        """Works until at least one ask is done and returns what is done, in ticket order; [] when none is pending."""
        ...

    def manifest(self) -> dict[str, Any]:
        """Describes what produces the answers: engine, model file and sha256, profile, self-test; goes into run.toml."""
        ...

    def close(self) -> None:
        """Frees the model. Closing twice is fine."""
        ...


def generate(engine: Engine, asks: list[tuple[Ask, int]]) -> list[Answer]:
    """Puts all asks (with their seeds) at once and returns their answers in the order given."""
    tickets = [engine.submit(ask, seed) for ask, seed in asks]
    done: dict[Ticket, Answer] = {}
    while len(done) < len(tickets):
        done.update(engine.poll())
    return [done[ticket] for ticket in tickets]
