"""Questions, insights and summaries: whatever is written is read exactly, and evidence is among what was shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.chance import rng
from localville.errors import GrammarError
from localville.llm.bounds import budget
from localville.llm.sentences import (
    Insight,
    insights_grammar,
    parse_insights,
    parse_questions,
    parse_response,
    questions_grammar,
    response_grammar,
    summary_grammar,
)
from localville.llm.walk import walk

SEEDS = st.integers(0, 2**32)
NAMES = ("Klaus Mueller", "李 小龙", "Ada (the Countess)", 'Zoë "Z" O\\Neil')


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), SEEDS)
def test_as_many_questions_are_read_as_were_wanted(count: int, seed: int) -> None:
    questions = parse_questions(walk(questions_grammar(count), rng(seed)))
    assert len(questions) == count
    assert all(question.endswith("?") and question.split()[0].istitle() for question in questions)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.integers(1, 30), st.integers(1, 5), SEEDS)
def test_insights_have_a_subject_and_cite_what_was_shown(
    subjects: list[str], statements: int, most: int, seed: int
) -> None:
    insights = parse_insights(walk(insights_grammar(subjects, statements, most), rng(seed)))
    assert 1 <= len(insights) <= most
    for insight in insights:
        assert any(insight.text.startswith(f"{name} ") for name in subjects)
        assert 1 <= len(insight.evidence) <= 4
        assert list(insight.evidence) == sorted(set(insight.evidence))
        assert set(insight.evidence) <= set(range(1, statements + 1))


def test_an_insight_is_read_exactly() -> None:
    text = "Ada (the Countess) likes to count, and to write (2, 10)\nKlaus Mueller is tired (1)\n\n"
    assert parse_insights(text) == (
        Insight("Ada (the Countess) likes to count, and to write", (2, 10)),
        Insight("Klaus Mueller is tired", (1,)),
    )


def test_a_summary_says_whom_it_is_about() -> None:
    text = walk(summary_grammar("Klaus Mueller is"), rng(3))
    assert text.startswith("Klaus Mueller is ")
    assert text.count("\n") == 1


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), SEEDS)
def test_what_is_done_at_once_takes_one_of_the_times_offered(lengths: list[int], seed: int) -> None:
    doing, minutes = parse_response(walk(response_grammar(lengths), rng(seed)))
    assert minutes in lengths
    assert doing.split()[0].endswith("ing") and "(" not in doing


def test_budgets_suffice_for_any_text() -> None:
    for grammar in (questions_grammar(3), insights_grammar(NAMES, 30, 5), summary_grammar(NAMES[0])):
        assert all(len(walk(grammar, rng(seed)).encode()) <= budget(grammar) for seed in range(20))


@pytest.mark.parametrize(("subjects", "statements", "most"), [((), 3, 3), (("A",), 0, 3), (("A",), 3, 0)])
def test_what_cannot_be_concluded_is_refused(subjects: tuple[str, ...], statements: int, most: int) -> None:
    with pytest.raises(GrammarError):
        insights_grammar(subjects, statements, most)
