"""A room that holds one holds one: who comes second waits or does something else; what was not done is not remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from localville.clock import HOUR, MINUTE
from localville.llm.engine import Ask, Choose
from localville.llm.grammars import PlannedAction, PlannedChunk
from localville.llm.scripted import ScriptedEngine
from localville.mind.react import NO, OTHERWISE, WAITS
from localville.mind.thought import Action
from localville.sim.room import inside
from localville.sim.run import Run
from localville.world.grid import Tile
from localville.world.places import Address, Town
from tests.people import somebody, street
from tests.sim.living import begin, live, resume, rows

STOVE, DESK = Address("House", "kitchen", "stove"), Address("House", "bedroom", "desk")
KITCHEN = STOVE.parent
CAST = (somebody("Ada Lovelace"), somebody("Zoë 李"))


def at_the_stove(ask: Ask, rng: np.random.Generator) -> str:
    """Everything is done at the stove, if it can be."""
    assert isinstance(ask.form, Choose)
    return next((option for option in ask.form.options if option == str(STOVE)), ask.form.options[0])


@pytest.fixture(autouse=True)
def small_kitchen(monkeypatch: pytest.MonkeyPatch) -> Town:
    """The street with a kitchen for one."""
    whole = street()
    sectors = tuple(
        replace(
            sector,
            arenas=tuple(replace(arena, capacity=1) if arena.address == KITCHEN else arena for arena in sector.arenas),
        )
        for sector in whole.sectors
    )
    town = Town(whole.name, whole.title, sectors, whole.grid, whole.spawns)
    monkeypatch.setattr("tests.sim.living.street", lambda: town)
    return town


def meeting(folder: Path, choice: str, minutes: int = 15, until: str = "08:00") -> Run:
    """A run at 07:00 in which Ada cooks in the kitchen and Zoë is about to."""
    script = {"react.full": choice, "react": NO, "place": at_the_stove}
    run = begin(folder, start="07:00", until=until, step_seconds=10, cast=CAST, engine=ScriptedEngine(script))
    live_steps(run, 1)
    now = run.state.now
    chunk = PlannedChunk(7 * HOUR, 9 * HOUR, "cook", "House")
    for agent in run.state.agents:
        agent.asleep, agent.wake_at = False, None
        agent.day_plan = (chunk, PlannedChunk(9 * HOUR, 23 * HOUR, "rest", "House"))
        agent.hours = (replace(chunk, end=8 * HOUR), replace(chunk, start=8 * HOUR))
        agent.to_remember = (f"{agent.name} is cooking",)  # whoever changes in a step is in its checkpoint
    ada, zoe = run.state.agents
    ada.tile = Tile(5, 3)
    ada.action = Action(now.seconds, now.seconds + minutes * MINUTE, "cooking", STOVE, "hot", "🍳")
    zoe.action = Action(now.seconds, now.seconds + MINUTE, "writing", DESK, "full", "📝")
    zoe.planned = (PlannedAction(7 * HOUR, 10, "frying eggs"), PlannedAction(7 * HOUR + 10 * MINUTE, 10, "reading"))
    zoe.tile = Tile(3, 3)
    return run


def live_steps(run: Run, steps: int) -> None:
    left = iter(range(steps))
    run.live(stop=lambda: next(left, None) is None)


def watch(run: Run) -> list[int]:
    """Lives a run to its end; how many were in the kitchen after each step."""
    counts = []
    room = run.state.town.arena(KITCHEN)
    while not run.finished:
        live_steps(run, 1)
        counts.append(sum(run.state.town.arena_at(agent.tile) is room for agent in run.state.agents))
    run.close()
    return counts


@pytest.mark.parametrize("choice", [WAITS, OTHERWISE])
def test_never_are_two_in_it(tmp_path: Path, choice: str) -> None:
    counts = watch(meeting(tmp_path / "run", choice))
    assert max(counts) == 1


def test_who_waits_gets_in_when_it_is_free(tmp_path: Path) -> None:
    watch(meeting(tmp_path / "run", WAITS, minutes=8))
    doing = rows(
        tmp_path / "run", "SELECT text, sector, arena, object FROM lived WHERE agent = ? ORDER BY nr", "Zoë 李"
    )
    waiting = [line for line in doing if line[0] == "waiting for the kitchen to be free"]
    assert waiting and all(thing == "" for *_, thing in waiting)
    later = doing[doing.index(waiting[-1]) + 1]
    assert later[0] == "frying eggs"
    kinds = {kind for (kind,) in rows(tmp_path / "run", "SELECT kind FROM events WHERE agent = ?", "Zoë 李")}
    assert "wait" in kinds and "avoid" not in kinds


def test_who_does_something_else_plans_anew_without_it(tmp_path: Path) -> None:
    run = meeting(tmp_path / "run", OTHERWISE, until="07:09")
    watch(run)
    told = rows(tmp_path / "run", "SELECT text FROM events WHERE kind = 'avoid'")
    assert told == [("Zoë 李 does not wait for the kitchen of House",)]
    ((step,),) = rows(tmp_path / "run", "SELECT step FROM asks WHERE purpose = 'react.full'")
    assert rows(tmp_path / "run", "SELECT * FROM asks WHERE purpose = 'plan.hour' AND step = ?", step)
    zoe = run.state.agents[1]
    assert zoe.action is not None and zoe.action.address.parent != KITCHEN
    assert any(text == "finding the kitchen taken" for _, text in zoe.done_today)


def test_what_was_not_done_is_not_remembered(tmp_path: Path) -> None:
    watch(meeting(tmp_path / "run", OTHERWISE, until="07:09"))
    memories = {text for (text,) in rows(tmp_path / "run", "SELECT text FROM memories WHERE agent = ?", "Zoë 李")}
    assert "Zoë 李 is finding the kitchen taken" in memories
    assert "Zoë 李 is frying eggs" not in memories


def test_the_choice_knows_who_is_inside(tmp_path: Path) -> None:
    run = meeting(tmp_path / "run", WAITS, until="07:05")
    watch(run)
    asked = next(ask for ask in run.scheduler.engine.asks if ask.purpose == "react.full")  # type: ignore[attr-defined]
    assert asked.prompt.text().endswith(
        "Zoë needs the kitchen for frying eggs. It is taken: Ada Lovelace is cooking there. Zoë"
    )


def test_it_survives_a_resume(tmp_path: Path) -> None:
    whole = meeting(tmp_path / "whole", WAITS)
    watch(whole)
    piece = meeting(tmp_path / "run", WAITS)
    live_steps(piece, 12)
    piece.close()
    script = {"react.full": WAITS, "react": NO, "place": at_the_stove}
    assert live(resume(tmp_path / "run", ScriptedEngine(script))) == whole.store.log_hash


def test_inside_counts_the_others(small_kitchen: Town, tmp_path: Path) -> None:
    run = meeting(tmp_path / "run", WAITS)
    ada, zoe = run.state.agents
    room = small_kitchen.arena(KITCHEN)
    assert inside(run.state, room, zoe) == [ada]
    assert inside(run.state, room, ada) == []
    run.close()
