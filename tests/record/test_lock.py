"""One writer a run: a live one is named and respected, a dead one is forgotten, whatever numbers say."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from localville.clock import SimTime
from localville.errors import RunCorrupt, RunError
from localville.record.lock import RunLock
from localville.record.reader import RunReader
from localville.record.store import Store

LIVE = """
import sys
from pathlib import Path
from localville.record.store import Store
store = Store.open(Path(sys.argv[1]))
print("living", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that nobody lives."""
    with closing(Store.create(tmp_path / "run", {"config": {}}, [("Ada Lovelace", {})])) as store:
        store.write_step(0, SimTime(0), {})
    return tmp_path / "run"


@contextmanager
def living(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has a run open, killed at the end."""
    command = [sys.executable, "-c", LIVE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "living\n"
            yield process
        finally:
            process.kill()


def note(folder: Path, pid: str) -> None:
    """Leaves the note of a writer, as a run that was cut off does."""
    with closing(sqlite3.connect(folder / "run.db")) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (pid,))


class TestTwoProcesses:
    def test_a_run_that_is_lived_is_refused_with_the_process_that_lives_it(self, folder):
        with living(folder) as other, pytest.raises(RunError, match=f"process {other.pid} is living this run"):
            Store.open(folder)

    def test_it_can_be_read_meanwhile(self, folder):
        with living(folder), RunReader.open(folder) as reader:
            assert reader.last_step()[0] == 0

    def test_a_copy_of_it_is_another_run(self, folder, tmp_path):
        with living(folder):
            shutil.copytree(folder, tmp_path / "copy")
            with closing(Store.open(tmp_path / "copy")) as store:
                assert store.last_step == 0

    def test_a_killed_process_leaves_no_lock(self, folder):
        with living(folder) as other:
            other.send_signal(signal.SIGKILL)
            other.wait()
            with closing(Store.open(folder)) as store:
                assert store.last_step == 0


class TestStaleNotes:
    @pytest.mark.parametrize("pid", [str(os.getpid()), str(os.getppid()), "1", "9" * 30, "", "nobody"])
    def test_a_note_alone_keeps_nobody_out_even_if_its_number_is_in_use_again(self, folder, pid):
        note(folder, pid)
        with closing(Store.open(folder)) as store:
            assert store.last_step == 0

    def test_a_run_that_is_closed_leaves_no_note(self, folder):
        with closing(Store.open(folder)):
            pass
        with closing(sqlite3.connect(folder / "run.db")) as connection:
            assert connection.execute("SELECT * FROM meta WHERE key = 'writer'").fetchall() == []


class TestOneProcess:
    def test_it_cannot_open_a_run_twice(self, folder):
        with closing(Store.open(folder)), pytest.raises(RunError, match=f"process {os.getpid()} is living this run"):
            Store.open(folder)

    def test_closed_it_can_be_opened_again(self, folder):
        for _ in range(3):
            with closing(Store.open(folder)) as store:
                assert store.last_step == 0

    def test_a_refusal_leaves_the_writer_at_work(self, folder):
        with closing(Store.open(folder)) as store:
            with pytest.raises(RunError):
                Store.open(folder)
            store.write_step(1, SimTime(10), {})
        with RunReader.open(folder) as reader:
            assert reader.last_step()[0] == 1

    def test_without_its_settings_a_run_is_not_gone_on_with(self, folder):
        (folder / "run.toml").unlink()
        with pytest.raises(RunCorrupt, match=r"run\.toml: the settings are missing"):
            Store.open(folder)


class TestRunLock:
    def test_it_changes_nothing_and_can_be_closed_twice(self, tmp_path):
        path = tmp_path / "run.toml"
        path.write_text("seed = 1\n", encoding="utf-8")
        lock = RunLock(path)
        with pytest.raises(BlockingIOError):
            RunLock(path)
        assert path.read_text(encoding="utf-8") == "seed = 1\n"
        lock.close()
        lock.close()
        RunLock(path).close()
