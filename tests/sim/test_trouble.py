"""A thing out of order keeps its state until somebody puts it right; what was interrupted is planned anew."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from localville.clock import MINUTE
from localville.llm.scripted import ScriptedEngine
from localville.mind.react import NO, YES
from localville.sim.run import Run
from localville.world.places import Address
from tests.people import somebody
from tests.sim.living import begin, live, resume, rows

DESK = Address("House", "bedroom", "desk")
STOVE = Address("House", "kitchen", "stove")
ADA = somebody("Ada Lovelace", wake="06:30")
ZOE = somebody("Zoë 李", wake="06:30")
HOW = " beating out the flames (5 minutes)\n"


def burning(folder: Path, *cast, choice: str = YES, after: str = YES, until: str = "07:40") -> Run:
    """A run in whose bedroom the desk burns, before anybody is up."""
    script = {"react.object": choice, "react.how": HOW, "react.helps": after, "react": NO, "wake": " 06:30"}
    run = begin(folder, cast=cast or (ADA,), until=until, engine=ScriptedEngine(script))
    run.state.set_states[DESK] = "burning"
    return run


def test_somebody_sees_to_it_and_puts_it_right(tmp_path: Path) -> None:
    run = burning(tmp_path / "run")
    live(run)
    said = [text for (text,) in rows(tmp_path / "run", "SELECT text FROM events WHERE kind = 'react' ORDER BY step")]
    assert said == ["Ada Lovelace sees that the desk is burning", "the desk at House is idle again"]
    states = rows(tmp_path / "run", "SELECT state FROM object_states WHERE address = ? ORDER BY step", str(DESK))
    assert [state for (state,) in states][:2] == ["burning", "idle"]
    done = rows(tmp_path / "run", 'SELECT start, "end", object FROM lived WHERE text = ?', "beating out the flames")
    assert [(end - start, thing) for start, end, thing in done] == [(5 * MINUTE, "desk")]
    memories = [text for (text,) in rows(tmp_path / "run", "SELECT text FROM memories WHERE step > 0")]
    assert "the desk at House is burning" in memories and "the desk at House is idle again" in memories
    assert "Ada Lovelace is beating out the flames" in memories


def test_the_rest_of_the_hour_is_planned_anew(tmp_path: Path) -> None:
    live(burning(tmp_path / "run"))
    query = "SELECT step FROM asks WHERE purpose = ? ORDER BY step"
    after = rows(tmp_path / "run", query, "react.helps")[0][0]
    assert (after,) in rows(tmp_path / "run", query, "plan.hour")


def test_the_choice_is_on_record_with_its_probabilities(tmp_path: Path) -> None:
    live(burning(tmp_path / "run"))
    for purpose in ("react.object", "react.helps"):
        ((chances,),) = rows(tmp_path / "run", "SELECT probabilities FROM asks WHERE purpose = ?", purpose)
        assert chances is not None


def test_what_was_left_is_thought_of_again_after_half_an_hour_and_keeps_its_state(tmp_path: Path) -> None:
    run = burning(tmp_path / "run", choice=NO, until="08:10")
    live(run)
    query = "SELECT at FROM asks JOIN steps USING (step) WHERE purpose = 'react.object'"
    times = [at for (at,) in rows(tmp_path / "run", query)]
    assert all(later - one >= 30 * MINUTE for one, later in pairwise(times))
    assert run.state.object_states[DESK] == "burning"
    assert not rows(tmp_path / "run", "SELECT * FROM events WHERE kind = 'react'")


def test_what_did_not_help_is_news_again(tmp_path: Path) -> None:
    live(burning(tmp_path / "run", after=NO, until="07:00"))
    assert len(rows(tmp_path / "run", "SELECT * FROM asks WHERE purpose = 'react.helps'")) >= 2


def test_one_of_two_sees_to_it(tmp_path: Path) -> None:
    live(burning(tmp_path / "run", ADA, ZOE))
    who = rows(tmp_path / "run", "SELECT agent FROM events WHERE kind = 'react' AND text LIKE '% sees that %'")
    assert who == [("Ada Lovelace",)]


def test_nobody_notices_what_is_in_another_room(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", cast=(ADA,), until="06:20", engine=ScriptedEngine({"wake": " 06:00"}))
    run.state.set_states[STOVE] = "burning"
    live(run, 2)
    assert not rows(tmp_path / "run", "SELECT * FROM asks WHERE purpose = 'react.object'")


def test_who_has_not_come_back_believes_it_still_burns(tmp_path: Path) -> None:
    run = burning(tmp_path / "run", ADA, ZOE, until="06:35")
    live(run, 6)
    ada, zoe = run.state.agents
    assert ada.tree.state(DESK) == zoe.tree.state(DESK) == "burning"
    del run.state.set_states[DESK]
    assert zoe.tree.state(DESK) == "burning"


def test_it_survives_a_resume(tmp_path: Path) -> None:
    whole = burning(tmp_path / "whole")
    end = live(whole)
    script = {"react.object": YES, "react.how": HOW, "react.helps": YES, "react": NO, "wake": " 06:30"}
    live(burning(tmp_path / "run"), 3)
    for _ in range(4):
        live(resume(tmp_path / "run", ScriptedEngine(script)), 3)
    assert live(resume(tmp_path / "run", ScriptedEngine(script))) == end
