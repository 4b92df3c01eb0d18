"""Which texts say the same, and how spans are put in words."""

from __future__ import annotations

import pytest

from localville.study.words import listed, phrases, same_action, span_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("comparing formula 9", "comparing formula 10"),
        ("comparing the second formula", "Comparing formulas"),
        ("cleaning the kitchen table", "cleaning the kitchen"),
        ("reading her notes", "reading the notes again"),
        ("在看书", "在看书"),
        ("42", "42"),
    ],
)
def test_alike(one, other):
    assert same_action(one, other) and same_action(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("having breakfast", "having lunch"),
        ("reading a chapter on history", "reading a chapter on physics"),
        ("making coffee for the guests of the cafe", "serving coffee for the guests of the cafe"),
        ("writing", "writing a letter"),
        ("在看书", "在吃饭"),
        ("41", "42"),
    ],
)
def test_not_alike(one, other):
    assert not same_action(one, other) and not same_action(other, one)


def test_phrases_do_not_reach_from_one_utterance_into_the_next():
    assert phrases(["See you at 1 at the CAFE!", "The cafe it’s."], 3) == {
        ("see", "you", "at"): 1,
        ("you", "at", "at"): 1,
        ("at", "at", "the"): 1,
        ("at", "the", "cafe"): 1,
        ("the", "cafe", "it's"): 1,
    }


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 min"), (119, "1 min"), (3600, "1 h"), (3900, "1 h 05 min"), (90_000, "25 h")]
)
def test_spans(seconds, words):
    assert span_words(seconds) == words


def test_lists():
    assert [listed(list(letters)) for letters in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
