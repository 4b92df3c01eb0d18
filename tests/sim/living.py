"""Lives small runs in tests: two people on the street of tests/people.py, no model, a step a minute."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from localville.clock import SimTime, parse_moment
from localville.config import Persona, Profile, RunConfig
from localville.llm.engine import Answer, Ask, Engine, Ticket
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import HashingEmbedder
from localville.sim.run import Run
from tests.mind.driving import WAYS
from tests.people import somebody, street

START = SimTime.of("2023-02-13", "06:00")
CAST = (
    somebody("Ada Lovelace", wake="06:30"),
    somebody("Zoë 李", wake="07:00", known_places=("Lawn",)),
)
"""Ada and Zoë share the house, its bed and the cafe."""


def begin(
    folder: Path,
    *,
    until: str = "07:40",
    seed: int = 0,
    engine: Engine | None = None,
    step_seconds: int = 60,
    start: str = "06:00",
    cast: tuple[Persona, ...] = CAST,
    profile: Profile | None = None,
) -> Run:
    """A new run of the street that has not lived a step yet."""
    config = RunConfig(
        scenario="street",
        model="scripted",
        seed=seed,
        start=parse_moment(start, START).seconds,
        until=parse_moment(until, START).seconds,
        step_seconds=step_seconds,
        agents=tuple(person.name for person in cast),
        profile=profile or Profile(),
    )
    written = {"embedder": {"name": HashingEmbedder.name}}
    return Run.create(folder, config, cast, street(), engine or ScriptedEngine(), HashingEmbedder(), WAYS[0], written)


def resume(folder: Path, engine: Engine | None = None) -> Run:
    """A run as another process would open it."""
    return Run.resume(folder, street(), engine or ScriptedEngine(), HashingEmbedder())


def live(run: Run, steps: int | None = None) -> str:
    """Lives a run to its end, or so many steps, closes it and returns its log hash."""
    left = iter(range(steps)) if steps is not None else None
    try:
        run.live(stop=(lambda: next(left, None) is None) if left is not None else (lambda: False))
        return run.store.log_hash
    finally:
        run.close()


def lived(folder: Path, **settings: Any) -> str:
    """Begins a run, lives it to its end and returns its log hash."""
    return live(begin(folder, **settings))


def rows(folder: Path, query: str, *values: Any) -> list[Any]:
    """What plain SQLite finds in a run."""
    connection = sqlite3.connect(folder / "run.db")
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


class Wrapped:
    """An engine around the scripted one; subclasses change how it behaves, never what it answers."""

    def __init__(self, make: Callable[[], Engine] = ScriptedEngine) -> None:
        self.inner = make()

    def submit(self, ask: Ask, seed: int) -> Ticket:
        return self.inner.submit(ask, seed)

    def poll(self) -> list[tuple[Ticket, Answer]]:
        return self.inner.poll()

    def manifest(self) -> dict[str, Any]:
        return self.inner.manifest()

    def close(self) -> None:
        self.inner.close()


class Shuffled(Wrapped):
    """Gives answers a few at a time, in any order."""

    def __init__(self, seed: int, make: Callable[[], Engine] = ScriptedEngine) -> None:
        super().__init__(make)
        self.dice = random.Random(seed)
        self.ready: list[tuple[Ticket, Answer]] = []

    def poll(self) -> list[tuple[Ticket, Answer]]:
        self.ready += self.inner.poll()
        self.dice.shuffle(self.ready)
        few = self.dice.randint(1, max(1, len(self.ready)))
        now, self.ready = self.ready[:few], self.ready[few:]
        return now
