"""The log hash: a sha256 chain over steps, so that two runs can be compared by one line (DESIGN law 3).

A link covers the link before, the step's number and time, and the facts of its rows in a canonical text. Wall seconds,
token counts and whatever else may differ between two runs that lived the same are left out (``tables.py``).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from localville.record.tables import TABLES, StepRows

_canonical = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
ORIGIN = hashlib.sha256(b"localville log 1").hexdigest()


def link(before: str, step: int, at: int, rows: StepRows) -> str:
    """The hash of a step that follows ``before``."""
    digest = hashlib.sha256(f"{before}\n{step} {at}\n".encode())
    for name, table in TABLES.items():
        picks = [table.columns.index(column) for column in table.facts]
        for row in rows.get(name, ()):
            digest.update(_line(name, [row[pick] for pick in picks]))
    return digest.hexdigest()


def recompute(connection: sqlite3.Connection) -> Iterable[tuple[int, str, str]]:
    """Yields (step, recorded hash, recomputed hash) for every step of a run, in order."""
    before = ORIGIN
    for step, at, recorded in connection.execute("SELECT step, at, hash FROM steps ORDER BY step"):
        rows: StepRows = {}
        for name, table in TABLES.items():
            columns = ", ".join(f'"{column}"' for column in table.columns)
            query = f"SELECT {columns} FROM {name} WHERE step = ? ORDER BY rowid"
            rows[name] = connection.execute(query, (step,)).fetchall()
        before = link(before, step, at, rows)
        yield step, recorded, before


def _line(table: str, values: list[Any]) -> bytes:
    """One row in one canonical line. Raises TypeError for what SQLite would give back in another type."""
    for value in values:
        if type(value) not in (str, int, bytes):
            raise TypeError(f"a fact of '{table}' is text, an integer or bytes, not {type(value).__name__}")
    plain = [value.hex() if isinstance(value, bytes) else value for value in values]
    return (_canonical([table, *plain]) + "\n").encode()
