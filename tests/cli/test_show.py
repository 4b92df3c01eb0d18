"""`localville show` and `memories`: days as timelines, memories with their scores; nothing that was written steers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from localville.config import Profile
from localville.llm.scripted import ScriptedEngine
from localville.record.reader import RunReader
from tests.cli.calling import call, call_main
from tests.people import somebody
from tests.sim.living import CAST, lived, rows

ADA, ZOE = (person.name for person in CAST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A morning of the street."""
    place = tmp_path_factory.mktemp("runs") / "street"
    lived(place, until="07:30")
    return place


class TestShow:
    def test_it_prints_every_agents_day(self, folder):
        out = call("show", folder).out
        assert f"{ADA}, Monday, 13 February 2023" in out
        assert f"{ZOE}, Monday, 13 February 2023" in out
        lines = re.findall(r"^  (\d\d:\d\d)-(\d\d:\d\d)  \S+ .+\)$", out, re.MULTILINE)
        assert len(lines) == rows(folder, "SELECT count(*) FROM actions")[0][0]

    @pytest.mark.parametrize("name", ["Ada", "ada", "Ada Lovelace", " ADA LOVELACE"])
    def test_one_agent_by_first_or_full_name(self, folder, name):
        out = call("show", folder, name).out
        assert ADA in out
        assert f"{ZOE}, Monday" not in out

    def test_it_ends_with_the_account_and_the_hash(self, folder):
        with RunReader.open(folder) as reader:
            assert reader.check_hashes() in call("show", folder).out

    def test_for_machines(self, folder):
        days = json.loads(call("show", folder, "--json").out)
        assert list(days) == [ADA, ZOE]
        assert set(days[ADA][0]) >= {"start", "end", "emoji", "text", "sector", "arena", "object", "object_state"}
        assert list(json.loads(call("show", folder, "Zoë", "--json").out)) == [ZOE]

    def test_showing_changes_nothing(self, folder):
        before = (folder / "run.db").read_bytes()
        call("show", folder)
        call("memories", folder, "Ada", "--query", "walk")
        assert (folder / "run.db").read_bytes() == before


class TestMemories:
    def test_the_latest_come_last(self, folder):
        found = json.loads(call("memories", folder, "Ada", "--limit", "5", "--json").out)
        ids = [row["id"] for row in found]
        last = rows(folder, "SELECT max(id) FROM memories WHERE agent = ?", ADA)[0][0]
        assert ids == list(range(last - 4, last + 1))
        assert len(call("memories", folder, "Ada", "--limit", "5").out.splitlines()) == 5

    def test_for_a_query_the_best_come_first_with_their_scores(self, folder):
        found = json.loads(call("memories", folder, "Ada", "--query", "Ada likes to walk", "--json").out)
        totals = [row["total"] for row in found]
        assert totals == sorted(totals, reverse=True)
        assert max(found, key=lambda row: row["relevance"])["text"] == f"{ADA} likes to walk"
        for row in found:
            assert row["total"] == pytest.approx(row["recency"] + row["importance"] + row["relevance"])
        assert call("memories", folder, "Ada", "--query", "walk").out.startswith("total  recency")

    def test_reflections_are_trees_over_what_they_rest_on(self, tmp_path):
        folder = tmp_path / "run"
        lived(folder, until="09:30", engine=ScriptedEngine(ready={}), profile=Profile(reflect_threshold=40))
        found = json.loads(call("memories", folder, "Ada", "--tree", "--json").out)
        assert found
        for root in found:
            assert root["kind"] == "reflection"
            assert root["evidence"] and all(below["id"] < root["id"] for below in root["evidence"])
        assert "└── " in call("memories", folder, "Ada", "--tree").out

    def test_before_the_first_reflection_there_is_no_tree(self, folder):
        assert call("memories", folder, "Ada", "--tree").out == "No reflections yet.\n"

    @pytest.mark.parametrize("query", ["", " ", "zzz", "'; DROP TABLE memories; --", "🎹"])
    def test_any_query_is_answered(self, folder, query):
        assert call("memories", folder, "Ada", "--query", query).code == 0


class TestFaults:
    @pytest.fixture
    def fault(self, monkeypatch, capfd):
        """Runs a command that must fail and returns the one line it says."""

        def run(*arguments: object) -> str:
            code, out, err = call_main(monkeypatch, capfd, *arguments)
            assert (code, out, len(err.splitlines())) == (1, "", 1), err
            return err

        return run

    @pytest.mark.parametrize("command", ["show", "memories"])
    def test_somebody_who_does_not_live_here(self, folder, fault, command):
        assert "Did you mean 'Ada'?" in fault(command, folder, "Adda")
        assert f"Did you mean '{ADA}'?" in fault(command, folder, "ada lovelac")
        assert f"Here live: {ADA}, {ZOE}" in fault(command, folder, "zzz")
        assert "Here live: " in fault(command, folder, " ")

    def test_memories_are_somebodys(self, folder, fault):
        assert "Here live: " in fault("memories", folder, "")

    @pytest.mark.parametrize("command", [("show",), ("memories", "Ada")])
    def test_what_is_no_run(self, fault, tmp_path, command):
        name, *who = command
        assert "nothing" in fault(name, tmp_path / "nothing", *who)
        assert str(tmp_path) in fault(name, tmp_path, *who)

    def test_a_file_that_is_no_database(self, fault, tmp_path):
        (tmp_path / "run.db").write_bytes(b"SQLite format 4\0" + bytes(500))
        (tmp_path / "run.toml").write_text("", encoding="utf-8")
        assert str(tmp_path) in fault("show", tmp_path)


class TestTerminal:
    def test_what_people_wrote_is_shown_never_obeyed(self, tmp_path):
        rude = "Ada\x1b]0;mine\x07 \x9b31m lives here\r; Ada likes 👩‍🏫 and ❤️"
        lived(tmp_path / "run", until="06:10", cast=(somebody(memories=rude),))
        out = call("memories", tmp_path / "run", "Ada").out
        assert not {"\x1b", "\x07", "\x9b", "\r"} & set(out)
        assert "👩‍🏫 and ❤️" in out
