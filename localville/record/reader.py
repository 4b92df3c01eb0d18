"""Reading a run, live or finished: what `show`, `memories`, `list`, and a resume need. Nothing here writes."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from localville.clock import SimTime
from localville.errors import RunCorrupt
from localville.memory.stream import Memory, MemoryKind
from localville.record.hash import recompute
from localville.record.store import open_database


class Line(NamedTuple):
    """One line of somebody's timeline; ``start`` and ``end`` are game seconds."""

    start: int
    end: int
    emoji: str
    text: str
    sector: str
    arena: str
    object: str
    object_state: str


class RunReader:
    """Reads one run folder. Use it as a context manager."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, manifest: dict[str, Any]) -> None:
        self.folder, self.manifest, self._connection = folder, manifest, connection

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Opens a run. Raises RunNotFound or RunCorrupt."""
        connection = open_database(folder)
        try:
            manifest = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            connection.close()
            raise RunCorrupt(f"run.toml cannot be read ({fault})", where=str(folder)) from None
        return cls(folder, connection, manifest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def agents(self) -> list[str]:
        """The names in id order."""
        return [name for (name,) in self._rows("SELECT name FROM agents ORDER BY id")]

    def personas(self) -> list[dict[str, Any]]:
        return [json.loads(persona) for (persona,) in self._rows("SELECT persona FROM agents ORDER BY id")]

    def last_step(self) -> tuple[int, SimTime, str]:
        """The last step, its time, and the log hash at its end. Raises RunCorrupt for a run without a step."""
        rows = self._rows("SELECT step, at, hash FROM steps ORDER BY step DESC LIMIT 1")
        if not rows:
            raise RunCorrupt("the run ended before its first step", where=str(self.folder), next="Start it anew")
        return rows[0][0], SimTime(rows[0][1]), rows[0][2]

    def timeline(self, agent: str) -> list[Line]:
        """What an agent did, in order."""
        query = """SELECT start, "end", emoji, text, sector, arena, object, object_state FROM actions
                   WHERE agent = ? ORDER BY start, rowid"""
        return [Line(*row) for row in self._rows(query, agent)]

    def plan(self, agent: str) -> list[tuple[int, int, str, str]]:
        """An agent's latest day plan: start and end in seconds of the day, activity, place."""
        query = """SELECT start, "end", activity, place FROM plans
                   WHERE agent = ?1 AND step = (SELECT max(step) FROM plans WHERE agent = ?1) ORDER BY start"""
        return self._rows(query, agent)

    def memories(self, agent: str) -> list[tuple[Memory, NDArray[np.float32]]]:
        """An agent's memories with their vectors, in id order."""
        query = """SELECT id, kind, text, created, last_access, importance, evidence, embedding FROM memories
                   WHERE agent = ? ORDER BY id"""
        return [
            (
                Memory(number, MemoryKind(kind), text, SimTime(created), SimTime(access), importance, tuple(json.loads(ev))),
                np.frombuffer(blob, dtype="<f4"),
            )
            for number, kind, text, created, access, importance, ev, blob in self._rows(query, agent)
        ]

    def totals(self) -> list[tuple[str, int, int, int, int, int, int, float]]:
        """Purpose, asks, retries, and prompt, reused, forced and generated tokens, and seconds, a row a purpose."""
        return self._rows("SELECT * FROM totals")

    def checkpoint(self) -> dict[str, dict[str, Any]]:
        """The latest state by agent name; '' is the town."""
        return {agent: json.loads(state) for agent, state in self._rows("SELECT agent, state FROM checkpoint")}

    def check_hashes(self) -> str:
        """Recomputes the hash chain and returns its end. Raises RunCorrupt naming the first step that differs."""
        end = ""
        for step, recorded, computed in recompute(self._connection):
            if recorded != computed:
                raise RunCorrupt(f"step {step} does not match its hash", where=str(self.folder / "run.db"))
            end = computed
        return end

    def _rows(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as fault:
            raise RunCorrupt(f"the database cannot be read ({fault})", where=str(self.folder / "run.db")) from None
