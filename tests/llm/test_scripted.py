"""The engine without a model: what it says by itself, what a script may say, and how fast."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, Field, field_validator

from localville.clock import HOUR
from localville.errors import GrammarError
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Fill, Form, Grammar, Part, Prompt, Rate, Write, generate
from localville.llm.grammars import day_plan_grammar, hour_grammar, parse_hour
from localville.llm.scripted import READY, Script, ScriptedEngine

PLAN = "07:00 showering\n07:15 eating some bread\n07:30 washing the dishes\n07:45 going to work\n08:00 ---\n"
HOUR_PLAN = hour_grammar(7 * HOUR, 8 * HOUR)


class Meeting(BaseModel):
    place: Literal["park", "cafe"]
    hour: int = Field(ge=8, le=20)


def ask(form: Form, purpose: str = "test", situation: str = "Klaus waves.") -> Ask:
    return Ask(purpose, Prompt((Part("situation", situation),)), form)


def answer(form: Form, script: Script | None = None, seed: int = 0) -> Any:
    return generate(ScriptedEngine(script), [(ask(form), seed)])[0].value


def test_a_script_answers_by_purpose() -> None:
    assert answer(Choose(("a", "b")), {"test": "b"}) == "b"
    assert answer(Rate(), {"test": 7}) == 7
    assert answer(Write(HOUR_PLAN, 700), {"test": PLAN}) == PLAN
    assert answer(Fill(Meeting, 99), {"test": Meeting(place="park", hour=9)}).hour == 9
    assert answer(Choose(("a", "b")), {"another purpose": "c"}) in ("a", "b")


def test_a_script_may_be_a_function_of_ask_and_chance() -> None:
    def goes_where_it_says(ask: Ask, rng: np.random.Generator) -> str | None:
        return "park" if "park" in ask.prompt.text() else None

    engine = ScriptedEngine({"place": goes_where_it_says})
    form = Choose(("cafe", "park"), temperature=1.0)
    asks = [(ask(form, "place", "Let us go to the park."), seed) for seed in range(9)]
    assert {answer.value for answer in generate(engine, asks)} == {"park"}
    asks = [(ask(form, "place", "Where to?"), seed) for seed in range(40)]
    assert {answer.value for answer in generate(engine, asks)} == {"cafe", "park"}

    drawn = ScriptedEngine({"test": lambda ask, rng: int(rng.integers(1, 11))})
    twice = [[answer.value for answer in generate(drawn, [(ask(Rate()), seed) for seed in range(9)])] for _ in range(2)]
    assert twice[0] == twice[1] and len(set(twice[0])) > 1


@pytest.mark.parametrize(
    ("form", "value", "says"),
    [
        (Choose(("a", "b")), "c", "'c' is no one of 'a', 'b'"),
        (Rate(1, 5), 6, "6 is no integer from 1 to 5"),
        (Rate(0, 5), True, "True is no integer"),
        (Rate(1, 5), "3", "'3' is no integer"),
        (Write(HOUR_PLAN, 700), "07:00 taking a shower\n", "is no text of the grammar 'hour_plan'"),
        (Write(HOUR_PLAN, 700), 5, "5 is no text"),
        (Fill(Meeting, 99), {"place": "park", "hour": 9}, "is no Meeting"),
    ],
)
def test_a_script_that_does_not_fit_the_form_is_refused(form: Form, value: Any, says: str) -> None:
    with pytest.raises(GrammarError, match="script, purpose 'test'") as error:
        answer(form, {"test": value})
    assert says in str(error.value)


def test_everything_asked_is_kept() -> None:
    engine = ScriptedEngine()
    asks = [ask(Rate(), "importance"), ask(Choose(("a",)), "place"), ask(Rate(), "importance")]
    generate(engine, [(ask, 0) for ask in asks])
    assert engine.asks == asks
    assert Counter(ask.purpose for ask in engine.asks) == {"importance": 2, "place": 1}


def test_opinions_follow_from_the_ask_and_ratings_vary() -> None:
    engine = ScriptedEngine()
    asks = [(ask(Rate(), situation=f"Event {number} happens."), 0) for number in range(300)]
    ratings = [answer.value for answer in generate(engine, asks)]
    assert set(ratings) >= set(range(2, 10))
    assert 3 <= np.mean(ratings) <= 5, "most of what happens is mundane"
    prior = Choose(("stay", "go"), prior=(50.0, 0.0))
    assert {answer.value for answer in generate(engine, [(ask(prior, situation=str(n)), 0) for n in range(20)])} == {
        "stay"
    }


def test_text_reads_like_a_plan() -> None:
    actions = parse_hour(answer(Write(HOUR_PLAN, budget(HOUR_PLAN))))
    assert {action.text for action in actions} <= set(READY["doing"])


def test_ready_texts_that_a_grammar_forbids_are_not_used() -> None:
    short = hour_grammar(7 * HOUR, 8 * HOUR, longest_action=14)
    for seed in range(20):
        actions = parse_hour(answer(Write(short, budget(short)), seed=seed))
        assert {action.text for action in actions} <= {"taking a walk", "reading a book", "cooking", "resting"}
    shout = Grammar("shout", 'root ::= phrase "!"\nphrase ::= [A-Z]{2,5} [^a-z!]{0,2} [^ -~]{1}\n')
    for seed in range(20):
        assert answer(Write(shout, 99), seed=seed).endswith("!")


def test_a_model_with_validators_that_no_schema_shows_is_refused_clearly() -> None:
    class Picky(BaseModel):
        hour: int = Field(ge=8, le=20)

        @field_validator("hour")
        @classmethod
        def never(cls, value: int) -> int:
            raise ValueError("no hour is right")

    with pytest.raises(GrammarError, match=r"model 'Picky': its validators refuse .*no hour is right"):
        answer(Fill(Picky, 99))


def test_five_thousand_asks_take_seconds() -> None:
    """A day of 25 agents; generous, since the point is the order of magnitude."""
    places = [f"Place {number}" for number in range(30)]
    engine = ScriptedEngine()
    plans = [day_plan_grammar(7 * HOUR, 23 * HOUR, [*places, str(agent)]) for agent in range(3)]
    forms: list[Form] = [Rate(), Choose(tuple(places), 1.0), Write(HOUR_PLAN, 700), Fill(Meeting, 99)]
    forms += [Write(plan, 999) for plan in plans]
    generate(engine, [(ask(form), 0) for form in forms])
    start = time.perf_counter()
    generate(engine, [(ask(forms[number % len(forms)], situation=str(number)), number) for number in range(500)])
    assert time.perf_counter() - start < 2.5
