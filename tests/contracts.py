"""Checks that any engine or embedder must pass: one call each, from a test of the implementation.

    def test_contract() -> None:
        check_engine(lambda: MyEngine(...))

A check that fails raises an AssertionError that says what was wrong. The factory is called a few times and must give
independent engines over the same model; every engine made here is closed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from localville.llm.bounds import budget
from localville.llm.constraints import Constraints
from localville.llm.engine import (
    Answer,
    Ask,
    Choose,
    Engine,
    Fill,
    Form,
    Grammar,
    Part,
    Prompt,
    Rate,
    Role,
    Write,
    generate,
)
from localville.llm.grammars import hour_grammar
from localville.memory.embed import Embedder

EngineFactory = Callable[[], Engine]
Words = Annotated[str, Field(max_length=20)]


class Mood(BaseModel):
    """A filled form with one of everything that can be bounded."""

    feeling: Literal["glad", "tired", "worried"]
    strength: int = Field(ge=1, le=5)
    alone: bool
    reasons: list[Words] = Field(max_length=2)
    thinks_of: Words | None


TOWN = Part("town", "Willow Creek is a small town with a cafe, a library and a park.\n")
PERSONA = Part("persona", "Maria Lopez studies physics. She streams games at night and often visits the cafe.\n")
COLOURS = ("red", "green", "blue", "white", "black", "pink", "brown", "grey", "gold", "teal",
           "lilac", "olive", "coral", "ivory", "khaki", "navy", "plum", "ruby", "sand", "rust")  # fmt: skip
NAME = Grammar("name", 'root ::= [A-Z] [a-z]{1,7} "\\n"\n')
OBJECT = Grammar("object", 'root ::= word (" " word){0,3} "\\n"\nword ::= [a-z]{1,9}\n')
HOUR = hour_grammar(7 * 3600, 7 * 3600 + 15 * 60, longest_action=20)


def text_prompt(situation: str) -> Prompt:
    return Prompt((TOWN, PERSONA, Part("situation", situation)))


def chat_prompt(question: str, opening: str = "") -> Prompt:
    parts = [Part("town", TOWN.text, Role.SYSTEM), Part("situation", question, Role.USER)]
    return Prompt((*parts, Part("opening", opening, Role.ASSISTANT)) if opening else tuple(parts))


def sample_asks() -> list[Ask]:
    """One ask for each form and each way to put it, all different in length."""
    at_cafe = "Maria sits at the cafe and reads.\n"
    forms: list[tuple[Prompt, Form]] = [
        (text_prompt("Maria wants to read. She goes to the"), Choose((" library", " park", " cafe"))),
        (text_prompt("Her favourite colour is"), Choose(tuple(f" {colour}" for colour in COLOURS), temperature=1.0)),
        (chat_prompt("Where does Maria read?"), Choose(("the library", "the park"), temperature=0.7, per_token=True)),
        (
            text_prompt("Maria borrows a book."),
            Choose(("cafe", "library"), framings=("At the cafe: ", "At the library: "), prior=(0.5, 0.0)),
        ),
        (
            text_prompt("Does Maria greet Klaus?"),
            Choose((" Yes", " No"), baseline=text_prompt("N/A"), temperature=1.0),
        ),
        (text_prompt("Maria brushes her teeth. From 1 to 10 this matters"), Rate()),
        (chat_prompt("How happy is Maria today, from 0 to 3?", "I would say "), Rate(0, 3, temperature=1.0)),
        (
            text_prompt("Maria breaks up with Klaus."),
            Rate(
                dull=("A boring routine: ",),
                vivid=("An unforgettable moment: ",),
                anchors=(("Maria brushes her teeth.", 1), ("Maria loses her home in a fire.", 10)),
            ),
        ),
        (text_prompt(at_cafe + "Her best friend is called "), Write(NAME, budget(NAME), temperature=1.0)),
        (text_prompt(at_cafe + "The coffee machine is "), Write(OBJECT, budget(OBJECT), repetition_penalty=1.2)),
        (chat_prompt("Write the plan of Maria's morning."), Write(HOUR, budget(HOUR), temperature=0.8, top_p=0.9)),
        (text_prompt(at_cafe + "As JSON: "), Fill(Mood, budget(Mood), temperature=0.7)),
    ]
    return [Ask(f"contract.{number}", prompt, form) for number, (prompt, form) in enumerate(forms)]


def check_engine(make: EngineFactory, *, scored: bool = True) -> None:
    """Checks everything the seam promises. ``scored=False`` for an engine that gives no probabilities."""
    with _open(make) as engine:
        check_idle(engine)
        check_every_form_is_answered(engine, scored=scored)
        check_seeds_matter(engine)
        check_cold_choice_ignores_the_seed(engine)
        check_text_is_inert(engine)
        check_manifest(engine)
    check_answers_depend_on_ask_and_seed_alone(make)
    check_tickets(make)
    engine = make()
    engine.close()
    engine.close()


def check_idle(engine: Engine) -> None:
    assert engine.poll() == [], "poll() without a pending ask must return []"


def check_every_form_is_answered(engine: Engine, *, scored: bool) -> None:
    asks = sample_asks()
    for ask, answer in zip(asks, generate(engine, [(ask, 1) for ask in asks]), strict=True):
        check_answer(ask, answer, scored=scored)


def check_answer(ask: Ask, answer: Answer, *, scored: bool = True) -> None:
    """Checks that one answer fits its ask."""
    value, form = answer.value, ask.form
    where = f"{ask.purpose}: {value!r}"
    assert answer.seconds >= 0 and answer.attempt >= 0, where
    match form:
        case Choose(options):
            assert value in options, f"{where} is none of {options}"
            count = len(options)
        case Rate(low, high):
            assert type(value) is int and low <= value <= high, f"{where} is no integer from {low} to {high}"
            count = high - low + 1
        case Write():
            assert type(value) is str and _BYTES.fits(form, value), f"{where} is no text of {form.grammar.name}"
        case Fill(model):
            assert type(value) is model, f"{where} is no {model.__name__}"
            assert model.model_validate_json(answer.text) == value, where
    if scored and isinstance(form, Choose | Rate):
        _check_probabilities(ask, answer, count, where)


def _check_probabilities(ask: Ask, answer: Answer, count: int, where: str) -> None:
    probabilities, form = answer.probabilities, ask.form
    assert probabilities is not None and len(probabilities) == count, f"{where}: one probability an option"
    assert all(0.0 <= p <= 1.0 for p in probabilities), f"{where}: {probabilities}"
    assert math.isclose(sum(probabilities), 1.0, abs_tol=1e-6), f"{where}: probabilities sum to {sum(probabilities)}"
    if isinstance(form, Choose) and form.temperature == 0:
        best = max(range(count), key=probabilities.__getitem__)
        assert answer.value == form.options[best], f"{where}: not the likeliest of {probabilities}"
    if isinstance(form, Rate) and form.temperature == 0:
        expected = sum(p * rating for p, rating in zip(probabilities, range(form.low, form.high + 1), strict=True))
        assert abs(answer.value - expected) <= 0.5 + 1e-6, f"{where}: the expectation is {expected}"


def check_seeds_matter(engine: Engine) -> None:
    """A hot choice over twenty options, and hot text, must differ between seeds."""
    asks = sample_asks()
    hot = next(ask for ask in asks if isinstance(ask.form, Choose) and len(ask.form.options) == len(COLOURS))
    hot = Ask(hot.purpose, hot.prompt, Choose(hot.form.options, temperature=5.0))  # type: ignore[union-attr]
    for ask, seeds in ((hot, 12), (next(ask for ask in asks if ask.form == Write(NAME, budget(NAME), 1.0)), 8)):
        values = {answer.value for answer in generate(engine, [(ask, seed) for seed in range(seeds)])}
        assert len(values) > 1, f"{ask.purpose}: {seeds} seeds all gave {values}"


def check_cold_choice_ignores_the_seed(engine: Engine) -> None:
    ask = sample_asks()[0]
    values = {answer.value for answer in generate(engine, [(ask, seed) for seed in (0, 1, 2**63)])}
    assert len(values) == 1, f"at temperature 0 the seed decided between {values}"


def check_text_is_inert(engine: Engine) -> None:
    """Markers of the chat template, written in a part's text, must be tokenised as text."""
    for prompt in (text_prompt, chat_prompt):
        plain, marked = (
            Ask("contract.inert", prompt(f"Maria says: {word * 8}\n"), Write(NAME, budget(NAME)))
            for word in ("", "<|im_end|>")
        )
        before, after = (answer.tokens.prompt for answer in generate(engine, [(plain, 0), (marked, 0)]))
        assert after - before > 16, f"8 markers in the text became {after - before} tokens: they were read as markers"


def check_manifest(engine: Engine) -> None:
    manifest = engine.manifest()
    assert isinstance(manifest.get("engine"), str), "the manifest must name the engine"


def check_answers_depend_on_ask_and_seed_alone(make: EngineFactory) -> None:
    """Neither order, nor company, nor what was asked before may change an answer (DESIGN law 3)."""
    pairs = [(ask, 7 + number) for number, ask in enumerate(sample_asks())]
    with _open(make) as engine:
        together = generate(engine, pairs)
    with _open(make) as engine:
        reverse = [generate(engine, [pair])[0] for pair in reversed(pairs)][::-1]
        crowded = generate(engine, [*pairs[8:], *pairs])[-len(pairs) :]
    for (ask, _), first, *others in zip(pairs, together, reverse, crowded, strict=True):
        for other, how in zip(others, ("alone and in another order", "among others, warm"), strict=True):
            assert _essence(other) == _essence(first), (
                f"{ask.purpose}: {_essence(first)} together, but {_essence(other)} {how}"
            )


def check_tickets(make: EngineFactory) -> None:
    """Tickets grow by one; every poll is in ticket order; each ticket comes back once."""
    with _open(make) as engine:
        asks = sample_asks()[:6]
        tickets = [engine.submit(ask, 3) for ask in asks]
        assert tickets == list(range(tickets[0], tickets[0] + len(tickets))), f"tickets do not grow by one: {tickets}"
        done: list[int] = []
        while len(done) < len(tickets):
            answered = [ticket for ticket, _ in engine.poll()]
            assert answered, "poll() returned nothing while asks were pending"
            assert answered == sorted(answered), f"poll() is not in ticket order: {answered}"
            done += answered
        assert sorted(done) == tickets, f"submitted {tickets}, answered {done}"
        check_idle(engine)


def check_embedder(make: Callable[[], Embedder]) -> None:
    """Checks shape, type and length of the vectors, and that a text's vector never depends on its company."""
    texts = ["Maria reads a book.", "Klaus is cooking.", "café – 日本", "a", "word " * 300]
    embedder = make()
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32, vectors.dtype
    assert vectors.shape == (len(texts), embedder.dimension), vectors.shape
    assert isinstance(embedder.name, str) and embedder.name, "an embedder has a name, for the run's manifest"
    norms = np.linalg.norm(vectors, axis=1)
    assert np.allclose(norms, 1.0, atol=1e-5), f"rows are not of length 1: {norms}"
    assert len({row.tobytes() for row in vectors}) == len(texts), "different texts have the same vector"
    for number, text in enumerate(texts):
        assert embedder.embed([text])[0].tobytes() == vectors[number].tobytes(), f"{text[:20]!r} differs when alone"
    twice = embedder.embed([texts[1], texts[0], texts[1]])
    assert [row.tobytes() for row in twice] == [vectors[i].tobytes() for i in (1, 0, 1)], "order or repetition matters"
    empty = embedder.embed([])
    assert empty.shape == (0, embedder.dimension) and empty.dtype == np.float32, f"no texts gave {empty.shape}"


_BYTES = Constraints.for_bytes()


def _essence(answer: Answer) -> tuple[Any, ...]:
    """What must be the same to the bit; counts and seconds may differ."""
    return answer.value, answer.probabilities, answer.scores


@contextmanager
def _open(make: EngineFactory) -> Iterator[Engine]:
    engine = make()
    try:
        yield engine
    finally:
        engine.close()
