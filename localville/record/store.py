"""Writing a run: `runs/NAME/run.toml` (what determines it) and `runs/NAME/run.db` (what happened).

A step is one transaction (DESIGN law 5): after a crash at any moment the database holds whole steps, the latest
checkpoint belongs to the last of them, and nothing else is needed to go on.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from localville.clock import SimTime
from localville.errors import RunCorrupt, RunError, RunExists, RunNotFound
from localville.llm.engine import Part
from localville.record.hash import ORIGIN, link
from localville.record.tables import TABLES, StepRows
from localville.record.toml import to_toml

SCHEMA_VERSION = 1


class Store:
    """Holds the open database of a run that is being lived. One process at a time may have it."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self._connection, self._closed = folder, connection, False
        row = connection.execute("SELECT step, hash FROM steps ORDER BY step DESC LIMIT 1").fetchone()
        self.last_step: int = -1 if row is None else row[0]
        self.log_hash: str = ORIGIN if row is None else row[1]
        self._parts = {key for (key,) in connection.execute("SELECT key FROM prompt_parts")}

    @classmethod
    def create(cls, folder: Path, manifest: dict[str, Any], agents: Iterable[tuple[str, dict[str, Any]]]) -> Self:
        """Makes a run folder. Raises RunExists if it is there and not empty."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunExists(
                "a run of that name exists", where=str(folder), next="Choose another --out, or run: localville resume"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            connection = _connect(folder / "run.db")
            connection.executescript(files("localville.record").joinpath("schema.sql").read_text(encoding="utf-8"))
            with connection:
                connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
                rows = [(number, name, json.dumps(persona)) for number, (name, persona) in enumerate(agents, 1)]
                connection.executemany("INSERT INTO agents VALUES (?, ?, ?)", rows)
            (folder / "run.toml").write_text(to_toml(manifest), encoding="utf-8")
        except OSError as fault:
            raise RunError(f"the run folder cannot be written ({fault.strerror})", where=str(folder)) from None
        store = cls(folder, connection)
        store._take()
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Opens a run to go on with it. Raises RunNotFound, RunCorrupt, or RunError if another process has it."""
        connection = open_database(folder)
        store = cls(folder, connection)
        store._take()
        return store

    def _take(self) -> None:
        """Notes this process as the writer; a note left behind by a process that is gone does not count."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = 'writer'").fetchone()
        if row is not None and int(row[0]) != os.getpid() and _alive(int(row[0])):
            self._connection.close()
            raise RunError(f"process {row[0]} is living this run", where=str(self.folder), next="Wait for it to end")
        with self._connection:
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (str(os.getpid()),))

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
            raise RunCorrupt(f"step {step} is recorded already", where=str(self.folder))
        chained = link(self.log_hash, step, at.seconds, rows)
        new_parts = {part.key: part for part in parts if part.key not in self._parts}
        try:
            with self._connection as c:
                c.execute("INSERT INTO steps VALUES (?, ?, ?)", (step, at.seconds, chained))
                for name, table_rows in rows.items():
                    marks = ", ".join("?" * (len(TABLES[name].columns) + 1))
                    columns = ", ".join(f'"{column}"' for column in ("step", *TABLES[name].columns))
                    c.executemany(
                        f"INSERT INTO {name} ({columns}) VALUES ({marks})", [(step, *row) for row in table_rows]
                    )
                c.executemany(
                    "UPDATE memories SET last_access = ? WHERE agent = ? AND id = ?",
                    [(at.seconds, agent, memory) for agent, memory in rows.get("accesses", ())],
                )
                c.executemany(
                    "INSERT INTO prompt_parts VALUES (?, ?, ?, ?)",
                    [(key, part.role.value, part.name, part.text) for key, part in new_parts.items()],
                )
                c.executemany(
                    "INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)",
                    [(agent, step, json.dumps(state, ensure_ascii=False)) for agent, state in checkpoint],
                )
        except sqlite3.Error as fault:
            raise RunError(
                f"step {step} could not be written ({fault}); all steps before it are safe",
                where=str(self.folder),
                next="Make room on the disk, then run: localville resume",
            ) from None
        self.last_step, self.log_hash = step, chained
        self._parts |= new_parts.keys()
        return chained

    def close(self) -> None:
        """Gives the run back and closes the database. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        with self._connection:
            self._connection.execute("DELETE FROM meta WHERE key = 'writer'")
        self._connection.close()


def open_database(folder: Path) -> sqlite3.Connection:
    """Opens a run's database and checks that it is one. Raises RunNotFound or RunCorrupt."""
    path = folder / "run.db"
    if not path.is_file():
        raise RunNotFound("there is no run here", where=str(folder), next="See what there is: localville list")
    try:
        connection = _connect(path)
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except sqlite3.Error as fault:
        raise RunCorrupt(f"the database cannot be read ({fault})", where=str(path)) from None
    if row is None or row[0] != str(SCHEMA_VERSION):
        connection.close()
        found = "none" if row is None else row[0]
        raise RunCorrupt(
            f"the database has schema version {found}, this localville reads {SCHEMA_VERSION}", where=str(path)
        )
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level="IMMEDIATE", timeout=30)
    # WAL with NORMAL: a crash of the process loses nothing, a power cut at most the last steps, never half a step.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
