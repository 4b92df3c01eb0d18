"""Alarms at the end of a run and in `localville show --alarms`: what is listed, and how far it was measured."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from localville.cli.alarms import print_alarms
from localville.cli.live import LiveScreen
from localville.cli.run import _live
from localville.record.alarm import Alarm, AlarmKind
from localville.record.reader import RunReader
from localville.record.store import Store
from localville.sim.facts import StepFacts
from localville.sim.run import Run
from localville.study.alarms import find_alarms
from tests.cli.calling import call, call_main
from tests.people import street
from tests.sim.living import begin, lived, resume, rows
from tests.study.made import ADA, TABLE, ZOE, Days

ADA_SLEEPS = f"{ADA} slept for 2 h of the day, though {ADA} usually sleeps from 23:00 to 07:00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ada sleeps until noon, Zoë compares formulas; not measured yet."""
    days = Days(until="12:00")
    days.wake(ZOE, "07:00")
    days.quarters(ZOE, "07:00", "11:30", "comparing formula {}", TABLE)
    days.record(tmp_path / "run")
    return tmp_path / "run"


def measured(folder: Path) -> Path:
    """As at the end of a run."""
    with RunReader.open(folder) as reader:
        alarms = find_alarms(reader, street())
    store = Store.open(folder)
    store.write_alarms(alarms)
    store.close()
    return folder


class TestShow:
    def test_they_are_listed_by_time_with_their_evidence(self, folder):
        assert call("show", measured(folder), "--alarms").out == (
            "\n2 alarms: same action 1, odd sleep 1\n"
            "Monday, 13 February 2023\n"
            f"  07:00-11:30  same action      {ZOE} did the same for 4 h 30 min: 'comparing formula 0', 18 actions alike, "
            "the last 'comparing formula 17'\n"
            f"  10:00-12:00  odd sleep        {ADA_SLEEPS}\n"
        )

    def test_those_about_one_agent(self, folder):
        out = call("show", measured(folder), "ada", "--alarms").out
        assert "1 alarm: odd sleep 1\n" in out and ADA_SLEEPS in out and ZOE not in out

    def test_for_machines(self, folder):
        report = json.loads(call("show", measured(folder), "--alarms", "--json").out)
        steps = rows(folder, "SELECT count(*) FROM steps")[0][0]
        assert (report["steps"], report["measured_steps"]) == (steps, steps)
        assert report["alarms"][1] == {
            "agent": ADA,
            "partner": "",
            "kind": "odd sleep",
            "since": "2023-02-13 10:00:00",
            "until": "2023-02-13 12:00:00",
            "text": ADA_SLEEPS,
        }

    def test_a_run_that_was_not_measured_says_so(self, folder):
        assert (
            call("show", folder, "--alarms").out
            == f"\nAlarms are measured when a run ends: localville resume {folder}\n"
        )
        report = json.loads(call("show", folder, "--alarms", "--json").out)
        assert (report["measured_steps"], report["alarms"]) == (0, [])

    def test_a_run_that_was_killed_since_says_how_far_it_was_measured(self, tmp_path):
        run = begin(tmp_path / "run", until="06:40")
        _live(run, tmp_path / "run", True)
        longer = resume(tmp_path / "run")
        longer.config = longer.config.model_copy(update={"until": longer.config.until + 1200})
        last = longer.store.last_step
        longer.live()
        longer.close()
        out = call("show", tmp_path / "run", "--alarms").out
        steps = rows(tmp_path / "run", "SELECT max(step) FROM steps")[0][0]
        assert out.startswith(f"\nMeasured up to step {last} of {steps}; measured anew by: localville resume ")

    def test_who_does_not_live_here(self, folder, monkeypatch, capfd):
        code, out, err = call_main(monkeypatch, capfd, "show", folder, "Adda", "--alarms")
        assert (code, out) == (1, "")
        assert "Did you mean 'Ada'?" in err

    def test_what_people_wrote_is_shown_never_obeyed(self, tmp_path):
        days = Days(until="12:00")
        for name in (ADA, ZOE):
            days.wake(name, "07:00")
            days.quarters(name, "07:00", "12:00", "drawing \x1b]0;mine\x07", TABLE)
        assert not {"\x1b", "\x07"} & set(call("show", measured(days.record(tmp_path / "run")), "--alarms").out)


class TestEndOfARun:
    SHORT = ("--model", "scripted", "--until", "06:20", "--step-seconds", "60", "--agents", "isabella")

    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)

    def test_it_says_that_there_are_none(self):
        out = call("run", "cafe", *self.SHORT, "--out", "mine").out
        assert "\nNo alarms.\n" in out
        assert out.index("No alarms.") < out.index("log hash")

    def test_for_machines_they_are_counted(self):
        assert json.loads(call("run", "cafe", *self.SHORT, "--out", "mine", "--json").out)["alarms"] == 0

    def test_a_long_list_is_cut_short(self, folder, capsys):
        store = Store.open(folder)
        store.write_alarms(
            [Alarm(ADA, "", AlarmKind.ODD_SLEEP, number, 120, f"number {number}") for number in range(5)]
        )
        store.close()
        print_alarms(folder, limit=3)
        out = capsys.readouterr().out
        assert "\n5 alarms: odd sleep 5\n" in out
        assert [f"number {number}" in out for number in range(5)] == [True, True, True, False, False]
        assert out.endswith(f"  … and 2 more: localville show {folder} --alarms\n")

    def test_an_interrupted_run_is_measured_up_to_there(self, monkeypatch, capfd):
        screen = LiveScreen.__call__

        def watch(self: LiveScreen, run: Run, facts: StepFacts | None) -> None:
            screen(self, run, facts)
            if facts is not None and facts.number == 5:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(LiveScreen, "__call__", watch)
        assert call_main(monkeypatch, capfd, "run", "cafe", *self.SHORT, "--out", "mine").code == 130
        report = json.loads(call("show", "mine", "--alarms", "--json").out)
        assert report["measured_steps"] == report["steps"] == 6

    def test_alarms_change_no_hash(self, tmp_path):
        lived(tmp_path / "plain", until="06:40")
        _live(begin(tmp_path / "measured", until="06:40"), tmp_path / "measured", True)
        query = "SELECT hash FROM steps ORDER BY step"
        assert rows(tmp_path / "plain", query) == rows(tmp_path / "measured", query)
