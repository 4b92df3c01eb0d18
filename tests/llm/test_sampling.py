"""Sampling: the mask comes first, ties go to the lowest id, and a draw is its seed's alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from localville.chance import rng
from localville.errors import EngineError
from localville.llm.sampling import draw, pick

LOGITS = np.array([2.0, 5.0, 5.0, -1.0, 4.0], np.float32)
ALL = np.ones(5, np.bool_)


def only(*tokens: int) -> NDArray[np.bool_]:
    mask = np.zeros(5, np.bool_)
    mask[list(tokens)] = True
    return mask


def test_temperature_zero_takes_the_best_and_the_first_of_equals() -> None:
    assert pick(LOGITS, ALL, rng(0)) == 1


def test_temperature_zero_draws_nothing() -> None:
    chance = rng(0)
    pick(LOGITS, ALL, chance)
    assert chance.random() == rng(0).random()


@given(seed=st.integers(0, 2**64 - 1), temperature=st.sampled_from([0.0, 0.5, 50.0]), top_p=st.sampled_from([0.1, 1.0]))
def test_a_token_outside_the_mask_is_never_picked(seed: int, temperature: float, top_p: float) -> None:
    assert pick(LOGITS, only(0, 3), rng(seed), temperature=temperature, top_p=top_p) in (0, 3)


def test_an_empty_mask_is_an_error() -> None:
    with pytest.raises(EngineError, match="allows no token"):
        pick(LOGITS, only(), rng(0))


def test_the_same_seed_draws_the_same_token() -> None:
    tokens = [pick(LOGITS, ALL, rng(seed), temperature=2.0) for seed in range(40)]
    assert tokens == [pick(LOGITS, ALL, rng(seed), temperature=2.0) for seed in range(40)]
    assert len(set(tokens)) > 2


def test_draws_follow_the_softmax() -> None:
    chance = rng(7)
    counts = np.bincount([pick(LOGITS, ALL, chance, temperature=2.0) for _ in range(4000)], minlength=5)
    expected = np.exp(LOGITS / 2.0)
    assert counts / 4000 == pytest.approx(expected / expected.sum(), abs=0.03)


def test_top_p_keeps_the_fewest_likeliest_tokens() -> None:
    # Shares are about .41, .41, .15, .02, .00: .4 is reached by the first of the two best, .5 needs both.
    for top_p, kept in ((0.4, {1}), (0.5, {1, 2}), (0.9, {1, 2, 4})):
        assert {pick(LOGITS, ALL, rng(s), temperature=1.0, top_p=top_p) for s in range(200)} == kept


def test_a_penalty_pushes_written_tokens_down_on_both_sides_of_zero() -> None:
    assert pick(LOGITS, ALL, rng(0), penalty=1.5, written=[1]) == 2
    negative = np.array([-2.0, -1.9, -9.0, -9.0, -9.0], np.float32)
    assert pick(negative, ALL, rng(0), penalty=1.2, written=[1]) == 0


def test_a_draw_never_returns_an_index_without_weight() -> None:
    weights = np.array([0.0, 1e-300, 0.0])
    assert {draw(weights, rng(seed)) for seed in range(50)} == {1}
