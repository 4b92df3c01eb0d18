"""A small run's record, written by hand, for the tests of the store, the reader and the hash."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from localville.clock import SimTime
from localville.llm.engine import Part, Role
from localville.record.store import Store
from localville.record.tables import Row, StepRows

START = SimTime.of("2023-02-13", "06:00")
AGENTS = [("Ada Lovelace", {"name": "Ada Lovelace", "age": 36}), ("Zoë 李", {"name": "Zoë 李", "age": 20})]
MANIFEST = {"config": {"scenario": "street", "seed": 7}, "localville": "0.1.0"}
PARTS = (Part("town", "A town.\n", Role.SYSTEM), Part("situation", "Where? “Here”\n", Role.USER))
VECTOR = np.array([0.6, 0.8], dtype="<f4")


def ask_row(agent: str = "Ada Lovelace", *, answer: str = "3", seconds: float = 0.25, tokens: int = 10) -> Row:
    keys = f'["{PARTS[0].key}", "{PARTS[1].key}"]'
    return (
        agent,
        "importance",
        keys,
        '{"kind": "Rate"}',
        "00000000000000ff",
        answer,
        "[1.0]",
        0,
        tokens,
        2,
        1,
        3,
        seconds,
    )


def memory_row(agent: str, number: int, text: str, *, last_access: int = START.seconds, importance: int = 3) -> Row:
    return (agent, number, "observation", text, START.seconds, last_access, importance, "[]", "[]", 1, VECTOR.tobytes())


def some_rows(number: int = 0) -> StepRows:
    """Rows of every table that a step writes."""
    ada, zoe = (name for name, _ in AGENTS)
    start = START.seconds + 60 * number
    return {
        "events": [(ada, "act", "Ada is reading"), (zoe, "sleep", "Zoë 李 goes to sleep")],
        "positions": [(ada, number, 2)],
        "memories": [
            memory_row(ada, number + 1, f"Ada reads page {number}"),
            memory_row(zoe, number + 1, "a “quoted” 'line'"),
        ],
        "accesses": [(ada, number + 1)],
        "repeats": [(zoe, number)] if number else [(zoe, 1), (ada, 1)],
        "questions": [(ada, "What does Ada like to read?")],
        "summaries": [(ada, "core", "Ada is curious")],
        "promises": [(ada, "2023-02-14", 61_200, 68_400, "Cafe", "go to the party", "Zoë told Ada of a party")],
        "utterances": [(1, number + 1, ada, zoe, "Hello!")],
        "plans": [(ada, "day", 21_600, 43_200, "reading", "House"), (ada, "day", 43_200, 86_400, "walking", "Park")],
        "actions": [(ada, start, start + 60, "reading", "House", "room", "desk", "in use", "📖")],
        "object_states": [("House:room:desk", "in use")],
        "asks": [ask_row()],
    }


def state(number: int) -> list[tuple[str, dict[str, Any]]]:
    return [("Ada Lovelace", {"tile": [number, 2], "recent": ["Zoë 李 ist müde"]}), ("", {"now": number})]


def new_store(folder: Path) -> Store:
    return Store.create(folder, MANIFEST, AGENTS)


def record(folder: Path, steps: int = 3) -> str:
    """Records so many steps, a minute each, closes the run and returns the end of the chain."""
    store = new_store(folder)
    for number in range(steps):
        store.write_step(number, START + 60 * number, some_rows(number), PARTS, state(number))
    store.close()
    return store.log_hash


def rows(folder: Path, query: str, *values: Any) -> list[Any]:
    """What plain SQLite finds in a run."""
    connection = sqlite3.connect(folder / "run.db")
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def tamper(folder: Path, query: str, *values: Any) -> None:
    """Changes a run behind localville's back."""
    connection = sqlite3.connect(folder / "run.db")
    try:
        with connection:
            assert connection.execute(query, values).rowcount != 0, "nothing was changed"
    finally:
        connection.close()


def contents(folder: Path) -> dict[str, list[Any]]:
    """Every row of every table."""
    tables = [name for (name,) in rows(folder, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {table: rows(folder, f"SELECT * FROM {table}") for table in tables}
