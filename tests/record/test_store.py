"""A run folder is made whole or not at all, a step lands whole or not at all, and one process at a time writes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from localville.clock import SimTime
from localville.errors import RunCorrupt, RunError, RunExists, RunNotFound
from localville.record import store as store_module
from localville.record.alarm import Alarm, AlarmKind
from localville.record.hash import ORIGIN
from localville.record.reader import RunReader
from localville.record.store import Store
from tests.record.recorded import (
    AGENTS,
    MANIFEST,
    PARTS,
    START,
    contents,
    memory_row,
    new_store,
    record,
    rows,
    some_rows,
    state,
    tamper,
)


class TestCreating:
    def test_a_new_run_has_its_settings_and_people_and_no_step(self, tmp_path):
        store = new_store(tmp_path / "deep" / "run")
        store.close()
        assert (store.last_step, store.log_hash) == (-1, ORIGIN)
        assert tomllib.loads((tmp_path / "deep" / "run" / "run.toml").read_text(encoding="utf-8")) == MANIFEST
        assert rows(tmp_path / "deep" / "run", "SELECT id, name FROM agents") == [(1, "Ada Lovelace"), (2, "Zoë 李")]

    def test_an_empty_folder_will_do(self, tmp_path):
        new_store(tmp_path).close()

    def test_a_run_is_never_written_over(self, tmp_path):
        record(tmp_path / "run")
        before = contents(tmp_path / "run")
        with pytest.raises(RunExists) as caught:
            new_store(tmp_path / "run")
        folder = tmp_path / "run"
        assert str(caught.value) == (
            f"{folder}: a run of that name exists. Choose another --out, or run: localville resume {folder}"
        )
        assert contents(tmp_path / "run") == before

    def test_a_folder_with_other_things_in_it_is_left_alone(self, tmp_path):
        (tmp_path / "letter.txt").write_text("mine")
        with pytest.raises(RunExists, match=r"in use and holds no run\. Choose another --out"):
            new_store(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]

    @pytest.mark.parametrize("out", ["runs", "runs/street-1", "runs/a/b"])
    def test_a_file_in_the_way_is_named(self, tmp_path, out):
        (tmp_path / "runs").write_text("a file")
        with pytest.raises(RunExists, match="a file is in the way") as caught:
            new_store(tmp_path / out)
        assert caught.value.where == str(tmp_path / "runs")
        assert (tmp_path / "runs").read_text() == "a file"

    def test_settings_that_cannot_be_written_leave_nothing(self, tmp_path):
        with pytest.raises(TypeError, match="TOML"):
            Store.create(tmp_path / "run", {"bad": object()}, AGENTS)
        assert not (tmp_path / "run").exists()

    def test_a_database_that_cannot_be_made_leaves_an_empty_folder(self, tmp_path, monkeypatch):
        def full(path: Path, people: object) -> None:
            path.write_bytes(b"half")
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(store_module, "_make_database", full)
        with pytest.raises(RunError, match=r"cannot be written \(database or disk is full\)\. Choose another --out"):
            new_store(tmp_path / "run")
        assert list((tmp_path / "run").iterdir()) == []
        monkeypatch.undo()
        new_store(tmp_path / "run").close()

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_that_may_not_be_written_is_told(self, tmp_path):
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(RunError, match="Permission denied"):
                new_store(tmp_path / "run")
        finally:
            tmp_path.chmod(0o700)


class TestAlarms:
    ALARM = Alarm("Ada Lovelace", "Zoë 李", AlarmKind.SAME_PAIR, START.seconds, START.seconds + 60, "Ada and Zoë again")

    def test_they_come_back_in_the_order_of_time_with_the_step_they_were_measured_from(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(3, START, {})
        later = self.ALARM._replace(partner="", kind=AlarmKind.NO_TALK, since=START.seconds + 1)
        store.write_alarms([later, self.ALARM])
        store.close()
        with RunReader.open(tmp_path) as reader:
            assert reader.alarms() == [self.ALARM, later]
            assert reader.alarms_step() == 3

    def test_before_they_are_measured_there_are_none_and_no_step(self, tmp_path):
        record(tmp_path)
        with RunReader.open(tmp_path) as reader:
            assert (reader.alarms(), reader.alarms_step()) == ([], None)

    def test_measured_again_they_take_the_place_of_the_old_ones_and_leave_the_hash_alone(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, some_rows(), PARTS, state(0))
        before = store.log_hash
        for text in ("old", "new"):
            store.write_alarms([self.ALARM._replace(text=text)])
        store.close()
        assert rows(tmp_path, "SELECT kind, text FROM alarms") == [("same pair", "new")]
        with RunReader.open(tmp_path) as reader:
            assert reader.check_hashes() == before

    def test_a_kind_that_nobody_knows_is_told(self, tmp_path):
        store = new_store(tmp_path)
        store.write_alarms([self.ALARM])
        store.close()
        tamper(tmp_path, "UPDATE alarms SET kind = 'boredom'")
        with RunReader.open(tmp_path) as reader, pytest.raises(RunCorrupt, match="'boredom' is not a valid AlarmKind"):
            reader.alarms()


class TestSteps:
    def test_every_row_of_a_step_is_found_again(self, tmp_path):
        store = new_store(tmp_path)
        end = store.write_step(4, START, some_rows(), PARTS, state(0))
        store.close()
        wanted = some_rows()
        wanted["memories"] = [
            (*row[:9], 2, row[10]) for row in wanted["memories"]
        ]  # each was made again in the same step
        for table, written in wanted.items():
            assert rows(tmp_path, f"SELECT * FROM {table}") == [(4, *row) for row in written]
        assert rows(tmp_path, "SELECT * FROM steps") == [(4, START.seconds, end)]
        assert (store.last_step, store.log_hash) == (4, end)

    def test_rows_keep_their_order(self, tmp_path):
        store = new_store(tmp_path)
        events = [("Ada Lovelace", "act", f"{number * 37 % 100}") for number in range(100)]
        store.write_step(0, START, {"events": events})
        store.close()
        assert rows(tmp_path, "SELECT agent, kind, text FROM events ORDER BY rowid") == events

    def test_a_retrieved_memory_is_refreshed(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, {"memories": [memory_row("Ada Lovelace", n, "seen") for n in (1, 2)]})
        store.write_step(1, START + 60, {"accesses": [("Ada Lovelace", 2)]})
        store.close()
        found = rows(tmp_path, "SELECT id, last_access FROM memories ORDER BY id")
        assert found == [(1, START.seconds), (2, START.seconds + 60)]

    def test_a_piece_of_a_prompt_is_kept_once(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, {}, [*PARTS, *PARTS])
        store.close()
        store = Store.open(tmp_path)
        store.write_step(1, START + 60, {}, PARTS)
        store.close()
        kept = rows(tmp_path, "SELECT key, role, name, text FROM prompt_parts ORDER BY rowid")
        assert kept == [(part.key, part.role.value, part.name, part.text) for part in PARTS]

    @pytest.mark.parametrize("step", [0, 1])
    def test_a_step_is_written_once_and_forwards(self, tmp_path, step):
        store = new_store(tmp_path)
        store.write_step(1, START, {})
        with pytest.raises(ValueError, match="cannot follow step 1"):
            store.write_step(step, START, {})
        store.close()


KILLED_IN_A_STEP = """
import os, pathlib, sys
from tests.record.recorded import *

def killed():
    yield from state(1)
    os._exit(9)

store = new_store(pathlib.Path(sys.argv[1]))
store.write_step(0, START, some_rows(0), PARTS, state(0))
store.write_step(1, START + 60, some_rows(1), PARTS, killed())
"""


class TestAllOrNothing:
    @pytest.fixture
    def store(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, some_rows(0), PARTS, state(0))
        yield store
        store.close()

    @pytest.mark.parametrize(
        ("bad", "fault"),
        [
            ({"memories": [memory_row("Ada Lovelace", 1, "twice")]}, sqlite3.IntegrityError),
            ({"memories": [memory_row("Ada Lovelace", 2, "off the scale", importance=11)]}, sqlite3.IntegrityError),
            ({"positions": [("Ada Lovelace", 1, "north")]}, sqlite3.IntegrityError),
            ({"positions": [("Ada Lovelace", 1)]}, IndexError),
            ({"gossip": [("Ada Lovelace",)]}, KeyError),
            ({"events": [("Ada Lovelace", "act", None)]}, TypeError),
            ({"positions": [("Ada Lovelace", True, 1)]}, TypeError),
            ({"events": [("Ada Lovelace", "act", "lone \udce9")]}, UnicodeEncodeError),
        ],
        ids=lambda case: next(iter(case)) if isinstance(case, dict) else case.__name__,
    )
    def test_a_faulty_row_leaves_the_record_at_the_step_before(self, store, tmp_path, bad, fault):
        before, end = contents(tmp_path), store.log_hash
        with pytest.raises(fault):
            store.write_step(1, START + 60, {"events": [("Zoë 李", "act", "first")], **bad}, PARTS, state(1))
        assert contents(tmp_path) == before
        assert (store.last_step, store.log_hash) == (0, end)
        store.write_step(1, START + 60, some_rows(1), PARTS, state(1))

    def test_a_state_that_is_no_json_leaves_the_record_at_the_step_before(self, store, tmp_path):
        before = contents(tmp_path)
        with pytest.raises(TypeError, match="JSON"):
            store.write_step(1, START + 60, some_rows(1), PARTS, [("", {"now": object()})])
        assert contents(tmp_path) == before

    def test_an_interruption_leaves_the_record_at_the_step_before(self, store, tmp_path):
        before = contents(tmp_path)

        def interrupted():
            yield "Ada Lovelace", {}
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.write_step(1, START + 60, some_rows(1), PARTS, interrupted())
        assert contents(tmp_path) == before

    def test_a_full_disk_is_told_and_the_run_can_go_on(self, store, tmp_path):
        before = contents(tmp_path)
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        large = {"events": [("Ada Lovelace", "act", "x" * 100_000)]}
        with pytest.raises(RunError, match=r"step 1 could not be written \(database or disk is full\)") as caught:
            store.write_step(1, START + 60, large)
        assert caught.value.next.endswith(f"localville resume {tmp_path}")
        assert contents(tmp_path) == before
        store._connection.execute("PRAGMA max_page_count = 1000000")
        store.write_step(1, START + 60, large)

    def test_a_process_that_is_killed_leaves_whole_steps(self, tmp_path):
        folder = tmp_path / "killed"
        assert subprocess.run([sys.executable, "-c", KILLED_IN_A_STEP, str(folder)], check=False).returncode == 9
        with RunReader.open(folder) as reader:
            assert reader.last_step()[0] == 0
            assert reader.checkpoint() == dict(state(0))
            assert reader.check_hashes() == reader.last_step()[2]
        store = Store.open(folder)
        store.write_step(1, START + 60, some_rows(1), PARTS, state(1))
        store.close()
        assert store.log_hash == record(tmp_path / "whole", 2)


class TestClosing:
    def test_closing_gives_the_run_back_and_leaves_one_plain_file(self, tmp_path):
        store = new_store(tmp_path)
        assert rows(tmp_path, "SELECT value FROM meta WHERE key = 'writer'") == [(str(os.getpid()),)]
        store.close()
        store.close()
        assert rows(tmp_path, "SELECT value FROM meta WHERE key = 'writer'") == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["run.db", "run.toml"]

    def test_closing_under_the_eye_of_a_reader_is_no_trouble(self, tmp_path, monkeypatch):
        monkeypatch.setattr(store_module, "BUSY_SECONDS", 0)
        store = new_store(tmp_path)
        with RunReader.open(tmp_path) as reader:
            store.close()
            assert reader.agents() == [name for name, _ in AGENTS]
        Store.open(tmp_path).close()

    def test_a_run_that_is_lived_can_be_read(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, some_rows(0))
        with RunReader.open(tmp_path) as reader:
            assert reader.last_step() == (0, START, store.log_hash)
            store.write_step(1, SimTime(START.seconds + 60), some_rows(1))
            assert reader.last_step()[0] == 1
        store.close()


class TestOpening:
    def test_a_run_goes_on_where_it_was_left(self, tmp_path):
        whole = record(tmp_path / "whole", 3)
        record(tmp_path / "pieces", 1)
        for number in (1, 2):
            store = Store.open(tmp_path / "pieces")
            assert store.last_step == number - 1
            store.write_step(number, START + 60 * number, some_rows(number), PARTS, state(number))
            store.close()
        assert store.log_hash == whole
        assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")

    @pytest.mark.parametrize("name", ["nothing", "empty", "file"])
    def test_what_is_no_run_is_not_found(self, tmp_path, name):
        (tmp_path / "empty").mkdir()
        (tmp_path / "file").write_text("")
        with pytest.raises(RunNotFound, match=r"there is no run here\. See what there is: localville list"):
            Store.open(tmp_path / name)

    def test_a_table_that_is_gone_is_told(self, tmp_path):
        record(tmp_path)
        tamper(tmp_path, "DROP TABLE prompt_parts")
        with pytest.raises(RunCorrupt, match=r"no such table: prompt_parts\)\. Put a copy of it back"):
            Store.open(tmp_path)
