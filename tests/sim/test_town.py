"""The state of a town is plain data: what an agent is can be written as JSON and read again, at any moment."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.llm.grammars import PlannedAction, PlannedChunk
from localville.memory.index import MemoryIndex
from localville.memory.stream import MemoryStream
from localville.mind.promise import Promise
from localville.mind.thought import Action, Summary
from localville.sim.town import AgentState
from localville.world.grid import Tile
from localville.world.places import PlaceTree
from localville.world.residents import starting_tree
from tests.people import somebody, street

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SECONDS = st.integers(0, 2**33)
THINGS = st.sampled_from([thing.address for thing in street().things()])
TILES = st.builds(Tile, st.integers(0, 17), st.integers(0, 6))


def tuples(items: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(items, max_size=3).map(tuple)


STATES = st.fixed_dictionaries(
    {
        "tile": TILES,
        "tree": st.lists(st.sampled_from(street().addresses), max_size=6).map(PlaceTree(street()).learn),
        "action": st.none() | st.builds(Action, SECONDS, SECONDS, TEXT, THINGS, TEXT, TEXT),
        "goal": tuples(TILES),
        "wake_at": st.none() | SECONDS,
        "asleep": st.booleans(),
        "day_plan": tuples(st.builds(PlannedChunk, SECONDS, SECONDS, TEXT, TEXT)),
        "hours": tuples(st.builds(PlannedChunk, SECONDS, SECONDS, TEXT, TEXT)),
        "planned": tuples(st.builds(PlannedAction, SECONDS, st.sampled_from([5, 10, 15]), TEXT)),
        "done_today": tuples(st.tuples(SECONDS, TEXT)),
        "promises": tuples(st.builds(Promise, TEXT, SECONDS, SECONDS, TEXT, TEXT, TEXT)),
        "summary": st.none() | st.builds(Summary, TEXT, TEXT, TEXT),
        "summary_due": st.booleans(),
        "talked": st.dictionaries(TEXT, SECONDS),
        "considered": st.dictionaries(TEXT, SECONDS),
        "talking_until": SECONDS,
        "sees_to": TEXT,
        "stopped_at": TEXT,
        "waits_for": TEXT,
        "avoids": st.dictionaries(TEXT, SECONDS),
        "unreflected": SECONDS,
        "recent": tuples(TEXT),
        "to_remember": tuples(TEXT),
    }
)


def agent(**facts: object) -> AgentState:
    person = somebody()
    fresh = {"tile": Tile(2, 2), "tree": starting_tree(street(), person)}
    return AgentState(persona=person, stream=MemoryStream(person.name), index=MemoryIndex(8), **{**fresh, **facts})


@settings(max_examples=60, deadline=None)
@given(STATES)
def test_any_state_survives_json(facts):
    before = agent(**facts)
    data = json.loads(json.dumps(before.to_json()))
    after = AgentState.from_json(data, before.persona, street(), before.stream, before.index)
    assert after.to_json() == before.to_json()
    assert (after.action, after.goal, after.day_plan) == (before.action, before.goal, before.day_plan)
    assert (after.planned, after.done_today, after.tile) == (before.planned, before.done_today, before.tile)
    assert after.tree.sectors() == before.tree.sectors()


def test_every_field_but_the_persona_and_the_memories_is_written():
    held = set(AgentState.__dataclass_fields__) - {"persona", "stream", "index"}
    assert set(agent().to_json()) == held


class TestActivity:
    ACTION = Action(0, 300, "making coffee", street().addresses[9], "hot", "☕")

    @pytest.mark.parametrize(
        ("facts", "activity"),
        [
            ({}, "sleeping"),
            ({"asleep": False}, "waking up"),
            ({"asleep": False, "action": ACTION}, "making coffee"),
            ({"asleep": False, "action": ACTION, "goal": (Tile(2, 2), Tile(9, 9))}, "making coffee"),
            ({"asleep": False, "action": ACTION, "goal": (Tile(9, 9),)}, "on the way to Cafe"),
        ],
    )
    def test_it_is_the_words_that_follow_is(self, facts, activity):
        assert agent(**facts).activity() == activity
