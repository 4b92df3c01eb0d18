"""Chance is named, not counted: a draw depends on its name alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from localville.chance import rng, rng_for, seed_for

NAMES = st.lists(st.text(max_size=8) | st.integers(-(2**70), 2**70), max_size=4).map(tuple)


@given(st.integers(0, 2**63), NAMES)
def test_a_seed_fits_into_64_bits(run_seed, names):
    assert 0 <= seed_for(run_seed, *names) < 2**64


@given(st.integers(0, 2**63), NAMES, NAMES)
def test_different_names_give_different_seeds(run_seed, one, other):
    same = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (seed_for(run_seed, *one) == seed_for(run_seed, *other)) == same


def test_neither_joints_nor_types_are_confused():
    assert seed_for(0, "ab", "c") != seed_for(0, "a", "bc") != seed_for(0, "abc")
    assert seed_for(0, 1) != seed_for(0, "1")
    assert seed_for(1, "wake") != seed_for(2, "wake")
    assert seed_for(0, "é") != seed_for(0, "e")


def test_a_name_draws_the_same_whatever_was_drawn_before():
    expected = rng_for(7, "Isabella", 3, "place", 0).random(4)
    rng_for(7, "Klaus", 3, "place", 0).random(100)
    assert np.array_equal(rng_for(7, "Isabella", 3, "place", 0).random(4), expected)


def test_seed_0_and_the_largest_are_seeds_like_any_other():
    draws = {rng(seed).random() for seed in (0, 1, 2**64 - 1)}
    assert len(draws) == 3


def test_seeds_are_the_same_in_every_process_and_version():
    """A run is reproduced from its seed years later; these numbers must never change."""
    assert seed_for(0) == 0xEE42C7543CF4BCF3
    assert seed_for(42, "Maria", 7) == 0x85F192EEB8FDF5C4
    assert rng_for(42, "Maria").random() == 0.4907599603482742
