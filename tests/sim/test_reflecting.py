"""Reflection in a run: it is set off by what happened, recorded with its evidence, and survives a resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localville.config import Profile
from localville.llm.scripted import ScriptedEngine
from tests.sim.living import begin, live, lived, resume, rows

QUICK = Profile(reflect_threshold=40)
UNTIL = "10:00"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    lived(folder, until=UNTIL, engine=ScriptedEngine(ready={}), profile=QUICK)
    return folder


def test_what_happens_sets_it_off_and_plans_furniture_and_old_memories_do_not(run: Path) -> None:
    for (agent,) in rows(run, "SELECT name FROM agents"):
        query = """SELECT step, kind, importance, text FROM memories WHERE agent = ? AND step > 0 ORDER BY id"""
        gathered, steps = 0, []
        for step, kind, importance, text in rows(run, query, agent):
            if kind == "reflection" and step not in steps:
                assert gathered >= QUICK.reflect_threshold
                steps.append(step)
                gathered = 0
            gathered += importance * (kind in ("observation", "chat") and not text.startswith("the "))
        assert steps
        asked = rows(run, "SELECT step, count(*) FROM questions WHERE agent = ? GROUP BY step", agent)
        assert asked == [(step, 3) for step in steps]


def test_insights_rest_on_older_memories_of_the_same_agent(run: Path) -> None:
    found = rows(run, "SELECT id, evidence FROM memories WHERE kind = 'reflection'")
    assert found
    for number, evidence in found:
        ids = json.loads(evidence)
        assert ids and all(1 <= old < number for old in ids)


def test_what_is_seen_again_reinforces_the_memory(tmp_path: Path) -> None:
    run = tmp_path / "run"
    lived(run, until=UNTIL)
    query = "SELECT count(*) FROM memories GROUP BY agent, kind, text HAVING count(*) > 1"
    assert rows(run, query) == []
    assert rows(run, "SELECT count(*) FROM repeats")[0][0] == rows(run, "SELECT sum(count - 1) FROM memories")[0][0] > 0


def test_stopped_and_gone_on_it_is_the_same_run(run: Path, tmp_path: Path) -> None:
    live(begin(tmp_path / "run", until=UNTIL, engine=ScriptedEngine(ready={}), profile=QUICK), 50)
    for _ in range(3):
        live(resume(tmp_path / "run", ScriptedEngine(ready={})), 37)
    end = live(resume(tmp_path / "run", ScriptedEngine(ready={})))
    assert rows(run, "SELECT hash FROM steps ORDER BY step DESC LIMIT 1") == [(end,)]
