"""Which tables a step writes, their columns, and which of these are facts of the world and so part of the log hash."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = tuple[Any, ...]
StepRows: TypeAlias = dict[str, list[Row]]
"""Table → rows, without their step, in the order in which they happened."""


class Table(NamedTuple):
    """Describes a table of steps: its columns after ``step``, and those of them that are hashed."""

    columns: tuple[str, ...]
    facts: tuple[str, ...]


def _all(*columns: str) -> Table:
    return Table(columns, columns)


_ASK = ("agent", "purpose", "prompt", "form", "seed", "answer")

TABLES = {
    "events": _all("agent", "kind", "text"),
    "positions": _all("agent", "x", "y"),
    "memories": Table(
        (
            "agent",
            "id",
            "kind",
            "text",
            "created",
            "last_access",
            "importance",
            "evidence",
            "people",
            "count",
            "embedding",
        ),
        ("agent", "id", "kind", "text", "created", "importance", "evidence", "people", "embedding"),
    ),
    "accesses": _all("agent", "memory"),
    "repeats": _all("agent", "memory"),
    "questions": _all("agent", "question"),
    "summaries": _all("agent", "part", "text"),
    "promises": _all("agent", "date", "start", "end", "place", "activity", "source"),
    "utterances": _all("talk", "turn", "speaker", "listener", "text"),
    "plans": _all("agent", "level", "start", "end", "activity", "place"),
    "actions": _all("agent", "start", "end", "text", "sector", "arena", "object", "object_state", "emoji"),
    "object_states": _all("address", "state"),
    "asks": Table(
        (
            *_ASK,
            "probabilities",
            "attempt",
            "prompt_tokens",
            "reused_tokens",
            "forced_tokens",
            "generated_tokens",
            "seconds",
        ),
        _ASK,
    ),
}
"""In the order in which they are hashed."""
