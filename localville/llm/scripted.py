"""An engine without a model: deterministic, instant, always valid. For tests, demonstrations and development.

    ScriptedEngine()                                           draws every answer
    ScriptedEngine({"react": "keep going"})                    always this answer for asks of this purpose
    ScriptedEngine({"plan.day": lambda ask, rng: my_plan(ask.prompt.text(), rng)})

What a script says must fit the ask's form; what it does not answer (no entry, or None) is drawn from the form itself.
Answers depend on ask and seed alone, as with any engine; ``asks`` keeps everything that was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from pydantic import BaseModel, ValidationError

from localville.chance import rng, seed_for
from localville.errors import GrammarError
from localville.llm import scoring
from localville.llm.constraints import BYTE_TOKENS, Constraints
from localville.llm.engine import Answer, Ask, Choose, Fill, Form, Grammar, Rate, Ticket, Tokens, Write
from localville.llm.gbnf import parse, rule_of
from localville.llm.sampling import draw
from localville.llm.walk import walk

Value: TypeAlias = str | int | BaseModel | None
Script: TypeAlias = Mapping[str, Value | Callable[[Ask, np.random.Generator], Value]]

READY: Mapping[str, tuple[str, ...]] = {
    "phrase": (
        "wake up and have breakfast",
        "take a walk",
        "read a book",
        "tidy up the room",
        "have lunch",
        "work at the desk",
        "talk with a neighbour",
        "cook dinner",
        "listen to music",
        "write a letter",
        "water the plants",
        "go shopping",
        "watch the news",
        "get ready for bed",
    ),
    "doing": (
        "taking a shower",
        "eating breakfast",
        "taking a walk",
        "reading a book",
        "tidying up the room",
        "working at the desk",
        "talking with a neighbour",
        "cooking",
        "listening to music",
        "writing a letter",
        "watering the plants",
        "resting",
    ),
}
"""Plausible texts for the rules that built grammars share (``phrase_rules`` and ``doing_rules`` in grammars.py)."""

_LIKING = np.where([chr(byte).isalnum() and byte < 128 for byte in range(BYTE_TOKENS)], 1.0, 1e-3)
_LIKING[list(b'"]}')] = 8.0
_LIKING[list(b" ,")] = 4.0
"""How much ``_filled`` likes each byte: short plain words, rarely an escape or a byte beyond ASCII."""


class ScriptedEngine:
    """Answers from a script, or by seeded draws."""

    def __init__(self, script: Script | None = None, *, ready: Mapping[str, tuple[str, ...]] = READY) -> None:
        self.asks: list[Ask] = []
        self._script = dict(script or {})
        self._ready = ready
        self._constraints = Constraints.for_bytes()
        self._ready_texts: dict[Grammar, dict[str, list[str]]] = {}
        self._pending: list[tuple[Ticket, Ask, int]] = []

    def submit(self, ask: Ask, seed: int) -> Ticket:
        self.asks.append(ask)
        ticket = len(self.asks)
        self._pending.append((ticket, ask, seed))
        return ticket

    def poll(self) -> list[tuple[Ticket, Answer]]:
        pending, self._pending = self._pending, []
        return [(ticket, self._answer(ask, seed)) for ticket, ask, seed in pending]

    def manifest(self) -> dict[str, Any]:
        return {"engine": "scripted", "purposes": sorted(self._script)}

    def close(self) -> None:
        self._pending = []

    def _answer(self, ask: Ask, seed: int) -> Answer:
        chance = rng(seed)
        said = self._script.get(ask.purpose)
        value = said(ask, chance) if callable(said) else said
        scores, probabilities = _scored(ask)
        if value is None:
            value = self._drawn(ask.form, probabilities, chance)
        else:
            self._check(ask, value)
        return Answer(
            value,
            probabilities=probabilities,
            scores=scores,
            tokens=Tokens(
                prompt=len(ask.prompt.text()),
                generated=0 if scores else len(value.model_dump_json() if isinstance(value, BaseModel) else str(value)),
            ),
        )

    def _drawn(self, form: Form, probabilities: tuple[float, ...] | None, chance: np.random.Generator) -> Value:
        match form:
            case Choose() | Rate():
                assert probabilities is not None
                shares = np.array(probabilities)
                if isinstance(form, Choose):
                    return form.options[scoring.choose(shares, form.temperature, chance)]
                return scoring.rate(shares, form.low, form.temperature, chance)
            case Write():
                return walk(form.grammar, chance, self._ready_for(form.grammar))
            case Fill():
                return self._filled(form, chance)

    def _filled(self, form: Fill, chance: np.random.Generator) -> BaseModel:
        """Walks the mask of single bytes, with a liking for letters and for ending strings and lists."""
        matcher = self._constraints.matcher(form)
        raw = bytearray()
        while not matcher.done():
            allowed = np.flatnonzero(matcher.mask()[:BYTE_TOKENS])
            if len(allowed) == 0:
                break
            token = int(allowed[draw(_LIKING[allowed], chance)])
            matcher.commit(token)
            raw.append(token)
        try:
            return form.model.model_validate_json(bytes(raw))
        except ValidationError as error:
            # What a validator in Python demands cannot be told from the schema.
            raise GrammarError(
                f"its validators refuse {raw.decode()}: {error.errors()[0]['msg']}",
                where=f"model '{form.model.__name__}'",
                next="Say it in the schema (bounds, Literal, pattern), or script this purpose",
            ) from None

    def _check(self, ask: Ask, value: Value) -> None:
        form = ask.form
        match form:
            case Choose(options):
                fits = value in options
            case Rate(low, high):
                fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
            case Write():
                fits = isinstance(value, str) and self._constraints.fits(form, value)
            case Fill(model):
                fits = isinstance(value, model)
        if not fits:
            raise GrammarError(
                f"the scripted answer {value!r} is no {_described(form)}",
                where=f"script, purpose '{ask.purpose}'",
            )

    def _ready_for(self, grammar: Grammar) -> dict[str, list[str]]:
        """The ready texts that this grammar's rules of those names allow."""
        if grammar not in self._ready_texts:
            rules = parse(grammar)
            self._ready_texts[grammar] = {
                name: [text for text in texts if self._constraints.fits(Write(rule_of(grammar, name), 0), text)]
                for name, texts in self._ready.items()
                if name in rules
            }
        return self._ready_texts[grammar]


def _scored(ask: Ask) -> tuple[tuple[float, ...], tuple[float, ...]] | tuple[None, None]:
    """Scores that stand for an opinion: they follow from the ask alone; the seed only decides the draw."""
    form = ask.form
    if not isinstance(form, Choose | Rate):
        return None, None
    opinion = rng(seed_for(0, ask.purpose, ask.prompt.key))
    if isinstance(form, Choose):
        scores = opinion.normal(size=len(form.options)) + (0.0 if form.prior is None else np.array(form.prior))
    else:
        # Most of what happens is mundane, so the peak leans to the low end.
        peak = form.low + (form.high - form.low) * opinion.random() ** 2
        scores = -np.abs(np.arange(form.low, form.high + 1) - peak)
    return tuple(scores.tolist()), tuple(scoring.probabilities(scores, form.temperature).tolist())


def _described(form: Form) -> str:
    match form:
        case Choose(options):
            return f"one of {', '.join(repr(option) for option in options)}"
        case Rate(low, high):
            return f"integer from {low} to {high}"
        case Write(grammar):
            return f"text of the grammar '{grammar.name}'"
        case Fill(model):
            return model.__name__
