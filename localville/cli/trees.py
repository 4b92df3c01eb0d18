"""Reflections as trees (paper §4.2): each over the memories it rests on, down to what was observed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from localville.cli.plain import printable

if TYPE_CHECKING:
    from localville.memory.stream import Memory


def print_trees(memories: Sequence[Memory], limit: int, as_json: bool) -> None:
    """Prints the latest reflections that no other one rests on, each with its evidence below it, newest last."""
    known = {memory.id: memory for memory in memories}
    used = {old for memory in memories for old in memory.evidence}
    roots = [memory for memory in memories if memory.evidence and memory.id not in used][-limit:]
    if as_json:
        typer.echo(json.dumps([_nested(root, known) for root in roots], indent=2, ensure_ascii=False))
        return
    for root in roots:
        for depth, memory in _lines(root, known):
            mark = "" if not depth else "    " * (depth - 1) + "└── "
            typer.echo(
                printable(f"{mark}{memory.id:<5} {memory.created.iso[:16]}  {memory.kind.value:11}  {memory.text}")
            )
        typer.echo("")
    if not roots:
        typer.echo("No reflections yet.")


def _lines(memory: Memory, known: dict[int, Memory], depth: int = 0) -> list[tuple[int, Memory]]:
    """A memory and all it rests on, with their depths. Evidence is always older, so this ends."""
    below = [line for old in memory.evidence for line in _lines(known[old], known, depth + 1)]
    return [(depth, memory), *below]


def _nested(memory: Memory, known: dict[int, Memory]) -> dict[str, Any]:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "created": memory.created.iso,
        "importance": memory.importance,
        "text": memory.text,
        "evidence": [_nested(known[old], known) for old in memory.evidence],
    }
