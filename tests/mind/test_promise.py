"""A promise is kept: it is in the plan of its day, whatever else is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.clock import HOUR, MINUTE
from localville.llm.grammars import PlannedChunk
from localville.mind.plan import day_plan
from localville.mind.promise import Promise, appointments, with_appointment
from tests.mind.driving import think, view_of, wild

PARTY = Promise("2023-02-13", 17 * HOUR, 19 * HOUR, "Cafe", "celebrate at the party", "Zoë told Ada of a party")
TIMES = st.integers(0, 288).map(lambda count: count * 5 * MINUTE)


@pytest.mark.parametrize("seed", range(12))
def test_the_plan_of_the_day_has_it(seed: int) -> None:
    plan, _ = think(day_plan(view_of(promises=(PARTY,))), wild(), seed)
    assert PARTY.chunk() in plan
    assert (plan[0].start, plan[-1].end) == (7 * HOUR, 23 * HOUR)
    assert all(one.end == other.start for one, other in pairwise(plan))


def test_another_days_plan_has_it_not() -> None:
    view = view_of(promises=(PARTY,))
    assert appointments((PARTY,), view.now + 24 * HOUR, 0, 24 * HOUR) == ()


@settings(deadline=None)
@given(st.lists(st.tuples(TIMES, TIMES), max_size=5), TIMES, TIMES)
def test_nobody_is_at_two_places_at_once(spans: list[tuple[int, int]], start: int, end: int) -> None:
    promises = [Promise("2023-02-13", min(span), max(span), "Cafe", "meet", "…") for span in spans]
    kept = appointments(promises, view_of().now, min(start, end), max(start, end))
    assert all(min(start, end) <= chunk.start < chunk.end <= max(start, end) for chunk in kept)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    assert all(chunk.end - chunk.start >= 15 * MINUTE for chunk in kept)


def test_the_first_promise_is_kept_whole() -> None:
    other = Promise("2023-02-13", 16 * HOUR, 18 * HOUR, "House", "play cards", "…")
    kept = appointments((PARTY, other), view_of().now, 0, 24 * HOUR)
    assert kept == (PlannedChunk(16 * HOUR, 17 * HOUR, "play cards", "House"), PARTY.chunk())


@settings(deadline=None)
@given(TIMES, TIMES, st.lists(TIMES, min_size=2, max_size=6, unique=True))
def test_a_day_with_one_more_line_is_still_a_day(start: int, end: int, edges: list[int]) -> None:
    edges = sorted(edges)
    plan = tuple(PlannedChunk(a, b, f"do {a}", "House") for a, b in pairwise(edges))
    chunk = PlannedChunk(min(start, end), max(start, end), "meet", "Cafe")
    changed = with_appointment(plan, chunk)
    assert (changed[0].start, changed[-1].end) == (edges[0], edges[-1])
    assert all(one.end == other.start for one, other in pairwise(changed))
    assert all(one.start < one.end for one in changed)
    inside = [one for one in changed if one.activity == "meet"]
    first, last = max(chunk.start, edges[0]), min(chunk.end, edges[-1])
    assert [(one.start, one.end) for one in inside] == ([(first, last)] if first < last else [])


def test_a_day_without_a_plan_gets_none() -> None:
    assert with_appointment((), PARTY.chunk()) == ()
