"""Writing a run: `runs/NAME/run.toml` (what determines it) and `runs/NAME/run.db` (what happened).

A step is one transaction (DESIGN law 5): after a crash at any moment the database holds whole steps, the latest
checkpoint belongs to the last of them, and nothing else is needed to go on.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from localville.clock import SimTime
from localville.errors import RunCorrupt, RunError, RunExists, RunNotFound
from localville.llm.engine import Part
from localville.record.alarm import Alarm
from localville.record.hash import ORIGIN, link
from localville.record.lock import RunLock
from localville.record.tables import TABLES, StepRows
from localville.record.toml import to_toml

SCHEMA_VERSION = 3
BUSY_SECONDS = 30
"""How long to wait for a reader or writer that has the file locked; a step takes milliseconds."""


class Store:
    """Holds the open database of a run that is being lived. One process at a time may have it (``lock.py``)."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Takes the connection over: it is closed if the run cannot be had."""
        self.folder, self._connection, self._closed = folder, connection, False
        try:
            self._lock = _take(folder, connection)
        except RunError:
            connection.close()
            raise
        try:
            with connection:
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (str(os.getpid()),))
            row = connection.execute("SELECT step, hash FROM steps ORDER BY step DESC LIMIT 1").fetchone()
            self._parts = {key for (key,) in connection.execute("SELECT key FROM prompt_parts")}
        except sqlite3.Error as fault:
            connection.close()
            self._lock.close()
            raise unreadable(fault, folder) from None
        self.last_step: int = -1 if row is None else row[0]
        self.log_hash: str = ORIGIN if row is None else row[1]

    @classmethod
    def create(cls, folder: Path, manifest: dict[str, Any], agents: Iterable[tuple[str, dict[str, Any]]]) -> Self:
        """Makes a run folder, whole or not at all. Raises RunExists if it is there and not empty."""
        settings = to_toml(manifest)
        people = [(number, name, json.dumps(persona)) for number, (name, persona) in enumerate(agents, 1)]
        try:
            _make_room(folder)
            file = (folder / "run.toml").open("x", encoding="utf-8", newline="\n")
        except OSError as fault:
            raise _unwritable(fault, folder) from None
        try:
            with file:
                file.write(settings)
            connection = _make_database(folder / "run.db", people)
        except (OSError, sqlite3.Error) as fault:
            _clear(folder)
            raise _unwritable(fault, folder) from None
        return cls(folder, connection)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Opens a run to go on with it. Raises RunNotFound, RunCorrupt, or RunError if another process has it."""
        return cls(folder, open_database(folder))

    def write_step(
        self,
        step: int,
        at: SimTime,
        rows: StepRows,
        parts: Iterable[Part] = (),
        checkpoint: Iterable[tuple[str, dict[str, Any]]] = (),
    ) -> str:
        """Writes a step as one transaction and returns the new end of the hash chain.

        checkpoint: agent name (or '' for the town) and its state; those left out have not changed.
        """
        if step <= self.last_step:
            raise ValueError(f"step {step} cannot follow step {self.last_step}")
        chained = link(self.log_hash, step, at.seconds, rows)
        new_parts = {part.key: part for part in parts if part.key not in self._parts}
        with self._writing(f"step {step} could not be written", "all steps before it are safe") as c:
            c.execute("INSERT INTO steps VALUES (?, ?, ?)", (step, at.seconds, chained))
            for name, table_rows in rows.items():
                marks = ", ".join("?" * (len(TABLES[name].columns) + 1))
                columns = ", ".join(f'"{column}"' for column in ("step", *TABLES[name].columns))
                c.executemany(f"INSERT INTO {name} ({columns}) VALUES ({marks})", [(step, *row) for row in table_rows])
            c.executemany(
                "UPDATE memories SET last_access = ? WHERE agent = ? AND id = ?",
                [(at.seconds, agent, memory) for agent, memory in rows.get("accesses", ())],
            )
            c.executemany(
                "UPDATE memories SET last_access = ?, count = count + 1 WHERE agent = ? AND id = ?",
                [(at.seconds, agent, memory) for agent, memory in rows.get("repeats", ())],
            )
            c.executemany(
                "INSERT INTO prompt_parts VALUES (?, ?, ?, ?)",
                [(key, part.role.value, part.name, part.text) for key, part in new_parts.items()],
            )
            c.executemany(
                "INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)",
                [(agent, step, json.dumps(state, ensure_ascii=False)) for agent, state in checkpoint],
            )
        self.last_step, self.log_hash = step, chained
        self._parts |= new_parts.keys()
        return chained

    def write_alarms(self, alarms: Iterable[Alarm]) -> None:
        """Writes what was measured from the steps so far, in place of what was measured before."""
        rows = [(alarm.agent, alarm.partner, alarm.kind.value, *alarm[3:]) for alarm in alarms]
        with self._writing("the alarms could not be written", "all steps are safe") as c:
            c.execute("DELETE FROM alarms")
            c.executemany("INSERT INTO alarms VALUES (?, ?, ?, ?, ?, ?)", rows)
            c.execute("INSERT OR REPLACE INTO meta VALUES ('alarms_step', ?)", (str(self.last_step),))

    @contextmanager
    def _writing(self, failed: str, safe: str) -> Iterator[sqlite3.Connection]:
        """One transaction. Raises RunError when the disk refuses it, and RunCorrupt for a damaged file."""
        try:
            with self._connection as connection:
                yield connection
        except sqlite3.OperationalError as fault:
            raise RunError(
                f"{failed} ({fault}); {safe}",
                where=str(self.folder),
                next=f"See that the disk has room and may be written, then run: localville resume {self.folder}",
            ) from None
        except sqlite3.DatabaseError as fault:
            if type(fault) is sqlite3.DatabaseError:  # a damaged file; its subclasses are faults of our own
                raise unreadable(fault, self.folder) from None
            raise

    def close(self) -> None:
        """Gives the run back and closes the database. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        with closing(self._lock), closing(self._connection), suppress(sqlite3.Error):  # a full disk: the note stays
            with self._connection:
                self._connection.execute("DELETE FROM meta WHERE key = 'writer'")
            # One plain file is left, which can be copied and can be read where nothing may be written.
            self._connection.execute("PRAGMA journal_mode = DELETE")


def open_database(folder: Path, *, writing: bool = True) -> sqlite3.Connection:
    """Opens a run's database and checks that it is one. Raises RunNotFound or RunCorrupt."""
    path = folder / "run.db"
    if not path.is_file():
        raise RunNotFound("there is no run here", where=str(folder), next="See what there is: localville list")
    try:
        connection = _connect(path, writing=writing)
    except sqlite3.Error as fault:
        raise unreadable(fault, folder) from None
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
        if row is None or row[0] != str(SCHEMA_VERSION):
            found = "none" if row is None else row[0]
            raise RunCorrupt(
                f"the database has schema version {found}, this localville reads {SCHEMA_VERSION}",
                where=str(path),
                next="Use the version of localville that run.toml names",
            )
    except sqlite3.Error as fault:
        connection.close()
        raise unreadable(fault, folder) from None
    except RunCorrupt:
        connection.close()
        raise
    return connection


def unreadable(fault: Exception, folder: Path) -> RunCorrupt:
    """The error to raise when the database does not give what it should."""
    return RunCorrupt(
        f"the database cannot be read ({fault})",
        where=str(folder / "run.db"),
        next="Put a copy of it back, or begin a new run: localville run",
    )


def _connect(path: Path, *, writing: bool = True) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level="IMMEDIATE", timeout=BUSY_SECONDS)
    try:
        if writing:
            # WAL with NORMAL: a crash of the process loses nothing, a power cut at most the last steps, never half one.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        else:
            connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _make_room(folder: Path) -> None:
    """Makes the folder. Raises RunExists if there is something in it, or in its way."""
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / "run.db").exists():
            raise RunExists("the folder is in use and holds no run", where=str(folder), next="Choose another --out")
        resume = f"Choose another --out, or run: localville resume {folder}"
        raise RunExists("a run of that name exists", where=str(folder), next=resume)
    in_the_way = next((path for path in (folder, *folder.parents) if path.exists() and not path.is_dir()), None)
    if in_the_way is not None:
        raise RunExists("a file is in the way of the run folder", where=str(in_the_way), next="Choose another --out")
    folder.mkdir(parents=True, exist_ok=True)


def _make_database(path: Path, people: list[tuple[int, str, str]]) -> sqlite3.Connection:
    """Makes the database with its tables and its people, in one transaction."""
    schema = files("localville.record").joinpath("schema.sql").read_text(encoding="utf-8")
    connection = _connect(path)
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{schema}")
        with connection:
            connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
            connection.executemany("INSERT INTO agents VALUES (?, ?, ?)", people)
    except BaseException:
        connection.close()
        raise
    return connection


def _unwritable(fault: OSError | sqlite3.Error, folder: Path) -> RunError:
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else fault
    next_step = "Choose another --out, or make room there"
    return RunError(f"the run folder cannot be written ({reason})", where=str(folder), next=next_step)


def _clear(folder: Path) -> None:
    """Takes back what a creation that failed has left. Only ever called on a folder that was empty before."""
    with suppress(OSError):
        for name in ("run.toml", "run.db", "run.db-wal", "run.db-shm", "run.db-journal"):
            (folder / name).unlink(missing_ok=True)


def _take(folder: Path, connection: sqlite3.Connection) -> RunLock:
    """Makes this process the only writer. Raises RunError naming the other, and RunCorrupt without run.toml."""
    try:
        return RunLock(folder / "run.toml")
    except BlockingIOError:
        # The lock is what counts; the note only says whose it is. A copy of a run has a note, but no lock.
        row = connection.execute("SELECT value FROM meta WHERE key = 'writer'").fetchone()
        who = "another process" if row is None else f"process {row[0]}"
        raise RunError(f"{who} is living this run", where=str(folder), next="Wait for it to end, or stop it") from None
    except FileNotFoundError:
        next_step = "Put a copy of it back, or begin a new run: localville run"
        raise RunCorrupt("the settings are missing", where=str(folder / "run.toml"), next=next_step) from None
    except OSError as fault:
        raise _unwritable(fault, folder) from None
