"""A run's days as values that measures can be taken of: who did what where, slept, talked, and had planned what.

Everything is read from the record; nothing is asked of a model. All times are game seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from localville.clock import DAY, SimTime
from localville.config import Persona, RunConfig
from localville.record.reader import PlannedLine, RunReader
from localville.world.places import Address, Town


class Span(NamedTuple):
    """From ``start`` up to ``end``; empty if they are equal."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return max(0, self.end - self.start)

    def overlap(self, other: Span) -> Span:
        """What both cover; empty if nothing."""
        start = max(self.start, other.start)
        return Span(start, max(start, min(self.end, other.end)))


class Doing(NamedTuple):
    """One action as it was lived: what was left of it when the next began is cut off."""

    start: int
    arrived: int
    """From then on its agent was at the place; before, it walked there. At most ``end``."""
    end: int
    text: str
    address: Address
    """Whoever waits in front of a room has the place where it stands: an arena, or outdoors."""
    talk: bool

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def there(self) -> Span:
        return Span(self.arrived, self.end)


class Planned(NamedTuple):
    """A part of a day plan, as long as it was in force."""

    start: int
    end: int
    activity: str
    place: str

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


@dataclass(frozen=True)
class Life:
    """Holds what one agent lived."""

    persona: Persona
    doings: tuple[Doing, ...]
    asleep: tuple[Span, ...]
    """From going to sleep to getting up."""
    plan: tuple[Planned, ...]

    @property
    def name(self) -> str:
        return self.persona.name

    def sleeps_at(self, moment: int) -> bool:
        return any(span.start <= moment < span.end for span in self.asleep)


@dataclass(frozen=True)
class Talk:
    """Holds a talk: when, between whom, the one who began it first, and what was said, turn by turn."""

    span: Span
    pair: tuple[str, str]
    lines: tuple[tuple[str, str], ...]
    """Speaker and text."""


@dataclass(frozen=True)
class Lived:
    """Holds all that was lived in a run so far."""

    config: RunConfig
    town: Town
    span: Span
    lives: tuple[Life, ...]
    """In id order."""
    talks: tuple[Talk, ...]


def read_lived(reader: RunReader, town: Town) -> Lived:
    """Reads a run up to its last step. ``town`` is the map that it was lived on."""
    config = RunConfig.model_validate(reader.manifest["config"])
    span = Span(config.start, reader.lived_until().seconds)
    said = {talk: tuple(lines) for talk, lines in groupby(reader.said(), key=lambda line: line.talk)}
    began = {(line.speaker, line.at) for lines in said.values() for line in lines}
    began |= {(line.listener, line.at) for lines in said.values() for line in lines}
    lives = []
    for persona in map(Persona.model_validate, reader.personas()):
        doings = _doings(reader, persona.name, span.end, config.step_seconds, began)
        plan = _in_force(reader.day_plans(persona.name), span)
        lives.append(Life(persona, doings, _asleep(reader.sleep_events(persona.name), span), plan))
    ends = {(life.name, doing.start): doing.end for life in lives for doing in life.doings}
    talks = []
    for lines in said.values():
        first = lines[0]
        end = ends.get((first.speaker, first.at), first.at)
        texts = tuple((line.speaker, line.text) for line in lines)
        talks.append(Talk(Span(first.at, end), (first.speaker, first.listener), texts))
    return Lived(config, town, span, tuple(lives), tuple(talks))


def days_of(span: Span) -> range:
    """The midnights at which the days that a span touches begin."""
    return range(SimTime(span.start).midnight.seconds, span.end, DAY)


def _doings(
    reader: RunReader, name: str, until: int, step_seconds: int, talks: set[tuple[str, int]]
) -> tuple[Doing, ...]:
    moves, doings, walked = reader.moves(name), [], 0
    for line in reader.timeline(name):
        start, end = line.start, min(line.end, until)
        arrived = start
        while walked < len(moves) and moves[walked] < end:
            if moves[walked] >= start:
                arrived = moves[walked] + step_seconds
            walked += 1
        if end > start:
            address = Address(line.sector, line.arena, line.object)
            doings.append(Doing(start, min(arrived, end), end, line.text, address, (name, start) in talks))
    return tuple(doings)


def _asleep(events: Iterable[tuple[int, str]], span: Span) -> tuple[Span, ...]:
    spans: list[Span] = []
    since: int | None = span.start  # a run begins with everybody in bed
    for at, kind in events:
        if kind == "sleep" and since is None:
            since = at
        elif kind == "wake" and since is not None:
            spans.append(Span(since, at))
            since = None
    if since is not None:
        spans.append(Span(since, span.end))
    return tuple(spans)


def _in_force(lines: Iterable[PlannedLine], span: Span) -> tuple[Planned, ...]:
    """The plan as it was followed: a promise makes a new version of it, which holds from then on."""
    versions = [(at, list(version)) for at, version in groupby(lines, key=lambda line: line.at)]
    parts: list[Planned] = []
    for number, (at, version) in enumerate(versions):
        midnight = SimTime(at).midnight.seconds
        # The first plan of a day begins on its five minutes, perhaps seconds before it was made.
        begin = at if number and versions[number - 1][0] >= midnight else midnight
        following = versions[number + 1][0] if number + 1 < len(versions) else midnight + DAY
        valid = Span(begin, min(following, midnight + DAY)).overlap(span)
        for line in version:
            part = Span(midnight + line.start, midnight + line.end).overlap(valid)
            before = parts[-1] if parts else None
            if not part.length:
                continue
            if before and (before.end, before.activity, before.place) == (part.start, line.activity, line.place):
                parts[-1] = before._replace(end=part.end)
            else:
                parts.append(Planned(part.start, part.end, line.activity, line.place))
    return tuple(parts)
