"""Promises: what an agent has agreed to do, on a day, at a time, at a place (paper §3.4, §7.1).

The original forgets them: who accepted an invitation lives the next day by the habits of the one before. Here a promise is
a line of the day plan by grammar when its day comes, and is put into the day at hand if it is for today; hours and actions
follow from there as from any other line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from localville.clock import DAY, MINUTE, SimTime
from localville.llm.grammars import PlannedChunk

GRAIN = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class Promise:
    """``date`` as 2023-02-14; ``start`` and ``end`` in seconds of that day, on five minutes; ``source``: a memory's text."""

    date: str
    start: int
    end: int
    place: str
    activity: str
    source: str

    def chunk(self) -> PlannedChunk:
        """The line of a day plan that keeps it."""
        return PlannedChunk(self.start, self.end, self.activity, self.place)


def appointments(promises: Iterable[Promise], day: SimTime, start: int, end: int) -> tuple[PlannedChunk, ...]:
    """The lines that the promises for a day put into its plan from ``start`` to ``end``, in order.

    One cannot be at two places: of promises that overlap, the one made first is kept as it is, the later one as far as
    there is time left beside it, if that is a quarter of an hour or more.
    """
    kept: list[PlannedChunk] = []
    for promise in promises:
        if promise.date != day.iso[:10]:
            continue
        first, last = max(promise.start, start), min(promise.end, end)
        for other in kept:
            if other.start <= first < other.end:
                first = other.end
            elif first < other.start < last:
                last = other.start
        if last - first >= 15 * MINUTE:
            kept.append(replace(promise.chunk(), start=first, end=last))
    return tuple(sorted(kept, key=lambda chunk: chunk.start))


def with_appointment(plan: Sequence[PlannedChunk], chunk: PlannedChunk) -> tuple[PlannedChunk, ...]:
    """A day plan with one more line, in front of which the others give way; the plan's span stays as it is."""
    if not plan:
        return ()
    start, end = max(chunk.start, plan[0].start), min(chunk.end, plan[-1].end)
    if start >= end:
        return tuple(plan)
    before = [replace(old, end=min(old.end, start)) for old in plan if old.start < start]
    after = [replace(old, start=max(old.start, end)) for old in plan if old.end > end]
    return (*before, replace(chunk, start=start, end=end), *after)


def on_grain(second_of_day: int) -> int:
    """A second of the day, on the five minutes before it."""
    return max(0, min(second_of_day, DAY)) // GRAIN * GRAIN
