"""Reflection holds whatever a model answers: three questions, insights that rest on what was retrieved, none twice."""

from __future__ import annotations

import dataclasses

import pytest

from localville.llm.engine import Ask
from localville.llm.scripted import ScriptedEngine
from localville.mind.reflect import focal_questions, reflect
from localville.mind.thought import Latest, Recall
from tests.mind.driving import MEMORIES, WAYS, asks, think, view_of, wild

PEOPLE = ("Ada Lovelace", "Zoë 李", "Ben")


@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_answered_it_is_a_reflection(seed: int, ways: dict[str, str]) -> None:
    reflected, wanted = think(reflect(view_of(people=PEOPLE, ways=ways)), wild(), seed)
    assert len(reflected.questions) == 3
    assert [request.query for request in wanted if isinstance(request, Recall)] == list(reflected.questions)
    assert 1 <= len(reflected.insights) <= 15
    texts = [insight.text for insight in reflected.insights]
    assert len(set(texts)) == len(texts)
    for insight in reflected.insights:
        assert 1 <= insight.importance <= 10
        assert set(insight.evidence) <= {memory.id for memory in MEMORIES}
        assert insight.evidence
        assert insight.text.startswith(("Ada Lovelace ", "Zoë 李 "))


def test_those_who_are_not_spoken_of_are_no_subjects() -> None:
    _, wanted = think(reflect(view_of(people=PEOPLE)), wild())
    grammars = [ask.form.grammar.gbnf for ask in asks(wanted) if ask.purpose == "reflect.insights"]  # type: ignore[union-attr]
    assert len(grammars) == 3
    assert all('"Zoë 李"' in gbnf and '"Ben"' not in gbnf for gbnf in grammars)


def test_the_questions_are_about_the_latest_memories_the_most_important_in_order() -> None:
    view = view_of()
    view = dataclasses.replace(view, profile=view.profile.model_copy(update={"reflect_shown": 2}))
    _, wanted = think(reflect(view))
    assert [request for request in wanted if isinstance(request, Latest)] == [Latest(100)]
    (ask,) = [ask for ask in asks(wanted) if ask.purpose == "reflect.questions"]
    promised, _, told, _ = (memory.text for memory in MEMORIES)
    assert f"Lately:\n{promised}\n{told}\nQuestions about Ada Lovelace:\n" in ask.prompt.text()


def test_what_is_known_already_is_no_insight() -> None:
    said = {"reflect.insights": lambda ask, rng: "Ada Lovelace is reading (1, 2)\nAda Lovelace likes books (1)\n\n"}
    reflected, _ = think(reflect(view_of()), ScriptedEngine(said))
    assert [(insight.text, insight.evidence) for insight in reflected.insights] == [("Ada Lovelace likes books", (1,))]


def test_nothing_remembered_is_nothing_shown() -> None:
    questions, wanted = think(focal_questions(view_of(), ()))
    assert len(questions) == 3
    assert isinstance(wanted[0], Ask)
