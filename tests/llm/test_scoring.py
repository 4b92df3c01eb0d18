"""Scoring: the tree of options against the plain sum, and the scale of ratings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from localville.chance import rng
from localville.llm.scoring import (
    OptionTree,
    choose,
    log_probabilities,
    neighbours,
    on_scale,
    probabilities,
    rate,
)

VOCABULARY = 5

paths = st.lists(st.integers(0, VOCABULARY - 1), max_size=4).map(tuple)
option_sets = st.lists(paths, min_size=1, max_size=6, unique=True)


def logits_behind(path: tuple[int, ...]) -> NDArray[np.float32]:
    """A model that is a table: its logits behind a path follow from the path."""
    return rng(int("1" + "".join(map(str, path)))).normal(size=VOCABULARY).astype(np.float32)


def found_by_reading(tree: OptionTree) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """What strands find: every prefix of every tail is read once."""
    read = {tail[:depth] for tail in tree.tails or ((),) for depth in range(len(tail) + 1)}
    return {path: log_probabilities(logits_behind(path), tree.children[path]) for path in read}


def test_log_probabilities_are_the_log_of_a_softmax() -> None:
    logits = np.array([1.0, 2.0, 3.0], np.float32)
    assert np.exp(log_probabilities(logits, [0, 1, 2])).sum() == pytest.approx(1.0, abs=1e-12)
    assert log_probabilities(np.array([1e4, 0.0], np.float32), [0])[0] == pytest.approx(0.0)


@given(options=option_sets)
def test_an_option_scores_the_sum_of_its_tokens(options: list[tuple[int, ...]]) -> None:
    tree = OptionTree.of(options)
    scores = tree.scores(found_by_reading(tree))
    for option, score in zip(options, scores, strict=True):
        plain = sum(float(log_probabilities(logits_behind(option[:d]), [option[d]])[0]) for d in range(len(option)))
        if option in tree.children:  # it begins another option, so it must also end
            assert score < plain + 1e-12
        else:
            assert score == pytest.approx(plain)


@given(options=option_sets)
def test_options_exclude_each_other(options: list[tuple[int, ...]]) -> None:
    tree = OptionTree.of(options)
    assert np.exp(tree.scores(found_by_reading(tree))).sum() <= 1.0 + 1e-9


@given(options=option_sets)
def test_no_tail_is_read_twice_and_leaves_are_not_read_at_all(options: list[tuple[int, ...]]) -> None:
    tree = OptionTree.of(options)
    for tail in tree.tails:
        assert tail in tree.children
        assert not any(other != tail and other[: len(tail)] == tail for other in tree.tails)


def test_one_token_options_need_nothing_beyond_the_prompt() -> None:
    assert OptionTree.of([(1,), (2,), (3,)]).tails == ()


def test_ten_numbers_need_one_row() -> None:
    one_to_ten = [(number,) for number in range(1, 10)] + [(1, 0)]
    assert OptionTree.of(one_to_ten).tails == ((1,),)


def test_per_token_divides_by_the_length() -> None:
    tree = OptionTree.of([(1,), (2, 3)])
    found = found_by_reading(tree)
    assert tree.scores(found, per_token=True) == pytest.approx(tree.scores(found) / [1, 2])


def test_probabilities_are_tempered() -> None:
    scores = np.log([0.7, 0.2, 0.1])
    assert probabilities(scores, 1.0) == pytest.approx([0.7, 0.2, 0.1])
    assert probabilities(scores, 0.0) == pytest.approx([0.7, 0.2, 0.1]), "at temperature 0 the plain shares are told"
    assert probabilities(scores, 0.1)[0] > 0.999
    assert probabilities(scores - 5000, 1.0) == pytest.approx([0.7, 0.2, 0.1])


def test_a_cold_choice_takes_the_first_of_the_best() -> None:
    assert choose(np.array([0.2, 0.4, 0.4]), 0.0, rng(3)) == 1


def test_a_hot_choice_is_drawn() -> None:
    picks = [choose(np.array([0.5, 0.5]), 1.0, rng(seed)) for seed in range(40)]
    assert set(picks) == {0, 1}


def test_a_cold_rating_is_the_expectation_rounded_half_up() -> None:
    assert rate(np.array([0.5, 0.5]), 4, 0.0, rng(0)) == 5
    assert rate(np.array([0.6, 0.4]), 4, 0.0, rng(0)) == 4
    assert rate(np.array([0.1, 0.1, 0.8]), -1, 0.0, rng(0)) == 1


ANCHORS = [(-4.0, 1), (0.0, 2), (3.0, 8), (5.0, 10)]


def test_the_scale_interpolates_between_anchors_and_stays_beyond_them() -> None:
    assert [on_scale(score, ANCHORS, 1, 10) for score in (-9, -4, -2, 0, 1.5, 5, 99)] == [1, 1, 1.5, 2, 5, 10, 10]


def test_the_scale_is_clipped_to_the_rating() -> None:
    assert on_scale(99, ANCHORS, 1, 5) == 5


def test_anchors_that_contradict_each_other_are_averaged() -> None:
    crossed = [(0.0, 1), (2.0, 8), (3.0, 2), (5.0, 10)]
    assert [on_scale(score, crossed, 1, 10) for score in (0, 2, 2.5, 3, 5)] == [1, 5, 5, 5, 10]


anchor_lists = st.lists(st.tuples(st.floats(-50, 50), st.integers(1, 10)), min_size=2, max_size=6)


@given(anchors=anchor_lists, scores=st.lists(st.floats(-80, 80), min_size=2, max_size=8))
def test_a_higher_score_never_rates_lower(anchors: list[tuple[float, int]], scores: list[float]) -> None:
    rated = [on_scale(score, anchors, 1, 10) for score in sorted(scores)]
    assert all(a <= b + 1e-9 for a, b in pairwise(rated))


@given(value=st.floats(1, 10))
def test_neighbours_have_the_value_as_their_mean(value: float) -> None:
    shares = neighbours(value, 1, 10)
    assert shares.sum() == pytest.approx(1.0)
    assert float(np.dot(shares, np.arange(1, 11))) == pytest.approx(value)
    assert np.count_nonzero(shares) <= 2
