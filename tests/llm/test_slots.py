"""Slots: prompts are cut by themselves alone, and the store keeps what it should."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from localville.llm.slots import GRID, Prefix, PrefixStore, Segment, Snapshot, chunks

tokens = st.integers(0, 9)
segments = st.builds(Segment, st.just("part"), st.lists(tokens, min_size=1, max_size=3 * GRID).map(tuple))
prefixes = st.lists(segments, min_size=1, max_size=4).map(lambda parts: Prefix(tuple(parts)))


@given(st.lists(tokens, max_size=5 * GRID))
def test_chunks_are_the_tokens_and_never_leave_one_alone(sequence: list[int]) -> None:
    pieces = chunks(sequence)
    assert [token for piece in pieces for token in piece] == sequence
    assert all(1 < len(piece) <= GRID + 1 for piece in pieces) or len(sequence) == 1
    assert all(len(piece) == GRID for piece in pieces[:-1])


@given(prefixes, prefixes)
def test_a_key_names_the_tokens_and_the_cuts_before_it(one: Prefix, two: Prefix) -> None:
    for index, (a, b) in enumerate(zip(one.keys, two.keys, strict=False)):
        same = [s.tokens for s in one.segments[: index + 1]] == [s.tokens for s in two.segments[: index + 1]]
        assert (a == b) is same


def test_the_same_tokens_cut_elsewhere_have_another_key() -> None:
    whole = Prefix((Segment("a", (1, 2, 3)),))
    split = Prefix((Segment("a", (1, 2)), Segment("b", (3,))))
    assert whole.keys[-1] != split.keys[-1]
    assert len(whole) == len(split) == 3


def snapshot(size: int) -> Snapshot:
    return Snapshot(np.zeros(size - 4, np.uint8), 1, np.zeros(1, np.float32))


def keys(store: PrefixStore) -> set[bytes]:
    return {key for key in (b"a", b"b", b"c", b"d") if key in store}


def test_the_least_recently_used_goes_first() -> None:
    store = PrefixStore(250)
    store.put(b"a", snapshot(100), stable=False)
    store.put(b"b", snapshot(100), stable=False)
    store.get(b"a")
    store.put(b"c", snapshot(100), stable=False)
    assert keys(store) == {b"a", b"c"}
    assert store.size == 200


def test_stable_parts_go_last() -> None:
    store = PrefixStore(250)
    store.put(b"a", snapshot(100), stable=True)
    store.put(b"b", snapshot(100), stable=False)
    store.put(b"c", snapshot(100), stable=False)
    assert keys(store) == {b"a", b"c"}
    store.put(b"d", snapshot(200), stable=True)
    assert keys(store) == {b"d"}


def test_what_is_held_stays_whatever_the_budget() -> None:
    store = PrefixStore(0)
    assert not store.wants(b"a", 100)
    store.hold(b"a")
    store.hold(b"a")
    assert store.wants(b"a", 100)
    store.put(b"a", snapshot(100), stable=False)
    store.release(b"a")
    assert keys(store) == {b"a"}
    store.release(b"a")
    assert keys(store) == set()


def test_releasing_all_makes_room() -> None:
    store = PrefixStore(0)
    store.hold(b"a")
    store.put(b"a", snapshot(100), stable=False)
    store.release_all()
    assert len(store) == 0


def test_nothing_is_wanted_twice_or_larger_than_the_budget() -> None:
    store = PrefixStore(150)
    store.put(b"a", snapshot(100), stable=False)
    assert not store.wants(b"a", 100)
    assert not store.wants(b"b", 151)
    assert store.wants(b"b", 150)
