"""Importance: an integer from 1 to 10, asked in the model's measured way, the same question for the same text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.llm.engine import Rate
from localville.mind.importance import importance_ask, rate
from tests.mind.driving import WAYS, think, wild


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1, max_size=80), st.integers(0, 999), st.sampled_from(WAYS))
def test_every_text_is_rated_from_1_to_10(text, seed, ways):
    value, (ask,) = think(rate(text, ways), wild(), seed)
    assert isinstance(value, int)
    assert 1 <= value <= 10
    assert isinstance(ask.form, Rate)
    assert (ask.form.low, ask.form.high) == (1, 10)


@pytest.mark.parametrize("ways", WAYS)
def test_one_text_makes_one_question_so_that_answers_can_be_kept(ways):
    assert importance_ask("Ada is reading", ways) == importance_ask("Ada is reading", ways)
    assert importance_ask("Ada is reading", ways) != importance_ask("Ada is writing", ways)


@pytest.mark.parametrize("ways", WAYS)
def test_the_text_is_in_the_last_part_which_alone_differs(ways):
    one, other = (importance_ask(text, ways).prompt.parts for text in ("Ada is reading", "a fire"))
    assert one[:-1] == other[:-1]
    assert "Ada is reading" in one[-1].text


def test_continuing_is_corrected_by_an_event_without_content():
    form = importance_ask("Ada is reading", {"importance": "continue"}).form
    assert isinstance(form, Rate)
    assert form.baseline is not None


def test_a_channel_spans_the_papers_scale():
    form = importance_ask("Ada is reading", {"importance": "channel"}).form
    assert isinstance(form, Rate)
    assert {rating for _, rating in form.anchors} >= {1, 10}
    assert form.dull and form.vivid
