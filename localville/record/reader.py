"""Reading a run, live or finished: what `show`, `memories`, `list`, and a resume need. Nothing here writes."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from localville.clock import SimTime
from localville.errors import RunCorrupt
from localville.llm.engine import Part, Role
from localville.memory.stream import Memory, MemoryKind
from localville.record.alarm import Alarm, AlarmKind
from localville.record.hash import ORIGIN, recompute
from localville.record.store import open_database, unreadable
from localville.record.tables import TABLES


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


class Said(NamedTuple):
    """One turn of a talk; ``at`` are the game seconds at which the talk began."""

    at: int
    talk: int
    speaker: str
    listener: str
    text: str


class PlannedLine(NamedTuple):
    """One line of a day plan made at ``at``; ``start`` and ``end`` are seconds of that day."""

    at: int
    start: int
    end: int
    activity: str
    place: str


class RunReader:
    """Reads one run folder. Use it as a context manager."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, manifest: dict[str, Any]) -> None:
        self.folder, self.manifest, self._connection = folder, manifest, connection

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Opens a run. Raises RunNotFound or RunCorrupt."""
        connection = open_database(folder, writing=False)
        try:
            manifest = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:  # not there, no UTF-8, no TOML
            connection.close()
            reason = fault.strerror if isinstance(fault, OSError) else fault
            next_step = "Put a copy of it back, or begin a new run: localville run"
            raise RunCorrupt(
                f"the settings cannot be read ({reason})", where=str(folder / "run.toml"), next=next_step
            ) from None
        return cls(folder, connection, manifest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def agents(self) -> list[str]:
        """The names in id order."""
        return [name for (name,) in self._rows("SELECT name FROM agents ORDER BY id")]

    def personas(self) -> list[dict[str, Any]]:
        """The personas in id order, as plain data."""
        rows = self._rows("SELECT persona FROM agents ORDER BY id")
        with self._decoding():
            return [json.loads(persona) for (persona,) in rows]

    def last_step(self) -> tuple[int, SimTime, str]:
        """The last step, its time, and the log hash at its end. Raises RunCorrupt for a run without a step."""
        rows = self._rows("SELECT step, at, hash FROM steps ORDER BY step DESC LIMIT 1")
        if not rows:
            next_step = f"Go on with it: localville resume {self.folder}"
            raise RunCorrupt("the run has not lived a step yet", where=str(self.folder), next=next_step)
        return rows[0][0], SimTime(rows[0][1]), rows[0][2]

    def lived_until(self) -> SimTime:
        """Up to when the town has been lived: where it would go on, at most its configured end."""
        town = self.checkpoint().get("")
        if town is None:
            return self.last_step()[1]
        return SimTime(min(int(town["now"]), int(town["until"])))

    def timeline(self, agent: str) -> list[Line]:
        """What an agent did, in order."""
        query = """SELECT start, "end", emoji, text, sector, arena, object, object_state FROM lived
                   WHERE agent = ? ORDER BY nr"""
        return [Line(*row) for row in self._rows(query, agent)]

    def plan(self, agent: str) -> list[tuple[int, int, str, str]]:
        """An agent's latest day plan: start and end in seconds of the day, activity, place."""
        query = """SELECT start, "end", activity, place FROM plans
                   WHERE agent = ?1 AND level = 'day'
                     AND step = (SELECT max(step) FROM plans WHERE agent = ?1 AND level = 'day') ORDER BY start"""
        return self._rows(query, agent)

    def day_plans(self, agent: str) -> list[PlannedLine]:
        """The lines of all day plans that an agent has made, in the order in which they were."""
        query = """SELECT at, start, "end", activity, place FROM plans JOIN steps USING (step)
                   WHERE agent = ? AND level = 'day' ORDER BY step, plans.rowid"""
        return [PlannedLine(*row) for row in self._rows(query, agent)]

    def sleep_events(self, agent: str) -> list[tuple[int, str]]:
        """When an agent went to sleep ('sleep') and got up ('wake'), in order. Before the first everybody is asleep."""
        query = """SELECT at, kind FROM events JOIN steps USING (step)
                   WHERE agent = ? AND kind IN ('sleep', 'wake') ORDER BY step, events.rowid"""
        return self._rows(query, agent)

    def moves(self, agent: str) -> list[int]:
        """Game seconds of the steps in which an agent walked a tile, in order; the first is where it began."""
        query = "SELECT at FROM positions JOIN steps USING (step) WHERE agent = ? ORDER BY step, positions.rowid"
        return [at for (at,) in self._rows(query, agent)]

    def said(self) -> list[Said]:
        """All that was said, talk by talk and turn by turn."""
        query = "SELECT at, talk, speaker, listener, text FROM utterances JOIN steps USING (step) ORDER BY talk, turn"
        return [Said(*row) for row in self._rows(query)]

    def alarms(self) -> list[Alarm]:
        """The alarms that were last measured, by the time at which they begin."""
        rows = self._rows("SELECT agent, partner, kind, since, until, text FROM alarms ORDER BY since, rowid")
        with self._decoding():
            return [Alarm(agent, partner, AlarmKind(kind), *rest) for agent, partner, kind, *rest in rows]

    def alarms_step(self) -> int | None:
        """The last step that the alarms were measured from; None where they never were."""
        rows = self._rows("SELECT value FROM meta WHERE key = 'alarms_step'")
        with self._decoding():
            return int(rows[0][0]) if rows else None

    def memories(self, agent: str, until: SimTime | None = None) -> list[tuple[Memory, NDArray[np.float32]]]:
        """An agent's memories with their vectors, in id order; with ``until`` as they were after the last step by then."""
        query = """SELECT id, kind, text, created, last_access, importance, evidence, people, count, embedding
                   FROM memories WHERE agent = ? ORDER BY id"""
        if until is None:
            rows = self._rows(query, agent)
        else:
            query = """
                WITH past AS (SELECT step, at FROM steps WHERE at <= ?2),
                     again AS (SELECT memory, at FROM repeats JOIN past USING (step) WHERE agent = ?1),
                     known AS (SELECT memory, at FROM accesses JOIN past USING (step) WHERE agent = ?1
                               UNION ALL SELECT * FROM again)
                SELECT id, kind, text, created, coalesce((SELECT max(at) FROM known WHERE memory = id), created),
                       importance, evidence, people, 1 + (SELECT count(*) FROM again WHERE memory = id), embedding
                FROM memories JOIN past USING (step)
                WHERE agent = ?1 ORDER BY id"""
            rows = self._rows(query, agent, until.seconds)
        with self._decoding():
            return [(_memory(row), np.frombuffer(row[-1], dtype="<f4").astype(np.float32)) for row in rows]

    def totals(self) -> list[tuple[str, int, int, int, int, int, int, float]]:
        """Purpose, asks, retries, and prompt, reused, forced and generated tokens, and seconds, a row a purpose."""
        return self._rows("SELECT * FROM totals")

    def checkpoint(self) -> dict[str, dict[str, Any]]:
        """The latest state by agent name; '' is the town."""
        rows = self._rows("SELECT agent, state FROM checkpoint ORDER BY agent")
        with self._decoding():
            return {agent: json.loads(state) for agent, state in rows}

    def check_hashes(self) -> str:
        """Recomputes the hash chain and returns its end. Raises RunCorrupt naming the first step, or the piece of a
        prompt, that differs."""
        end = ORIGIN
        next_step = "It is not as it was lived: put a copy of it back"
        with self._decoding():
            for step, recorded, computed in recompute(self._connection):
                if recorded != computed:
                    what = f"step {step} does not match its hash"
                    raise RunCorrupt(what, where=str(self.folder / "run.db"), next=next_step)
                end = computed
            for table in TABLES:
                stray = self._rows(f"SELECT min(step) FROM {table} WHERE step NOT IN (SELECT step FROM steps)")[0][0]
                if stray is not None:
                    what = f"table {table} has rows of a step {stray} that was not lived"
                    raise RunCorrupt(what, where=str(self.folder / "run.db"), next=next_step)
            # The steps' hashes cover prompts by the keys of their parts, which are hashes of the parts' texts.
            for key, role, name, text in self._rows("SELECT key, role, name, text FROM prompt_parts"):
                if Part(name, text, Role(role)).key != key:
                    what = f"the piece of a prompt {key} does not match its key"
                    raise RunCorrupt(what, where=str(self.folder / "run.db"), next=next_step)
        return end

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._decoding():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """States as RunCorrupt what SQLite cannot read, and what it read but is not what the schema says."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as fault:
            raise unreadable(fault, self.folder) from None


def _memory(row: tuple[Any, ...]) -> Memory:
    number, kind, text, created, access, importance, evidence, people, count, _ = row
    links, names = tuple(json.loads(evidence)), tuple(json.loads(people))
    when = (SimTime(created), SimTime(access))
    return Memory(number, MemoryKind(kind), text, *when, importance, links, names, count)
