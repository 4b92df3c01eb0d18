"""The best of several drafts of a day: fewest faults, then nearest to the person's habits.

A small model writes a good day in most tries and a silly one in some (ENGINE §5); what is silly in a plan can be told
without a model. A fault is a line that says again what an earlier one said, or that names another place than its own; a
meal had twice (paper §4.3: lunch at noon, at half past and at one) is worse than either. Others are hours of work spent
elsewhere, lunch at half past eight, a nap in the library, a place that is closed, and a night that does not find one home.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from localville.clock import DAY, HOUR
from localville.config import Persona
from localville.llm.grammars import PlannedChunk
from localville.mind.naming import named_sectors
from localville.mind.thought import Compare, Thought
from localville.world.places import Address

SAME = 0.75
"""Cosine from which two lines say the same: "have lunch at the cafe", "eat lunch at the cafe"; ours."""

MEALS = ("breakfast", "lunch", "dinner", "supper")
NOT_EATEN = re.compile(r"\b(?:serv|prepar|cook|order|plan|sell|mak|clean|clear)\w*\b(?:(?!,|\b(?:have|eat)\b).)*$")
"""What stands in front of a meal that one has to do with and does not eat: "serve breakfast and lunch"."""
SECOND_MEAL = 2
"""Faults."""

MEALTIMES = {"breakfast": (5 * HOUR, 11 * HOUR), "lunch": (11 * HOUR, 15 * HOUR), "dinner": (16 * HOUR, 22 * HOUR)}
"""Between which a part of the day with a meal must at least touch; ours."""
SLEEP = re.compile(r"\b(nap|sleep|go to bed|rest in bed)\b")
LEEWAY = HOUR // 2
"""How long before opening or after closing a part of the day may reach."""
AWAY = HOUR
"""Of the hours of work that may be spent elsewhere, say over lunch, without a fault; each further hour is one. Ours."""

Draft: TypeAlias = tuple[PlannedChunk, ...]


def best_draft(
    drafts: Sequence[Draft],
    persona: Persona,
    places: Sequence[str],
    home: str,
    hours: Mapping[str, tuple[int, int]],
) -> Thought[Draft]:
    """Takes the draft with the fewest faults; of equals the one most like the habits, then the first.

    ``home``: the sector of the person's bed. ``hours``: as for ``oddities``.
    """
    if len(drafts) == 1:
        return drafts[0]
    scores = []
    for draft in drafts:
        faults = (yield from faults_of(draft, places)) + absence(draft, persona) + oddities(draft, home, hours)
        habit = yield from _likeness_to_habits(draft, persona)
        scores.append((-faults, habit))
    return drafts[max(range(len(drafts)), key=lambda number: (*scores[number], -number))]


def faults_of(draft: Draft, places: Sequence[str]) -> Thought[int]:
    """Counts the lines that repeat an earlier one, those that name another place than their own, and second meals."""
    told = [sum(_eaten(meal, chunk.activity) for chunk in draft) for meal in MEALS]
    faults = SECOND_MEAL * sum(times - 1 for times in told if times)
    for number, chunk in enumerate(draft):
        named, _ = named_sectors(chunk.activity, places)
        faults += any(place != chunk.place for place in named)
        if number:
            likeness = yield Compare(chunk.activity, tuple(earlier.activity for earlier in draft[:number]))
            faults += max(likeness) >= SAME
    return faults


def oddities(draft: Draft, home: str, hours: Mapping[str, tuple[int, int]]) -> int:
    """Counts what people don't do with a day: meals out of their time, sleep away from home, closed places, no way home.

    ``hours``: opening and closing of places, in seconds of the day; those that close past midnight are left out.
    """
    odd = int(draft[-1].place != home)
    for chunk in draft:
        for meal, (first, last) in MEALTIMES.items():
            odd += _eaten(meal, chunk.activity) and not (chunk.start <= last and chunk.end > first)
        odd += chunk.place != home and SLEEP.search(chunk.activity) is not None
        opening, closing = hours.get(chunk.place, (0, DAY))
        odd += max(opening - chunk.start, chunk.end - closing) > LEEWAY
    return odd


def _eaten(meal: str, activity: str) -> bool:
    before, found, _ = activity.partition(meal)
    return bool(found) and NOT_EATEN.search(before) is None


def absence(draft: Draft, persona: Persona) -> int:
    """Counts the hours of work, beyond one, that a draft spends elsewhere."""
    if persona.work_hours is None or persona.workplace is None:
        return 0
    start, end = persona.work_hours
    sector = Address.parse(persona.workplace).sector
    away = sum(max(0, min(chunk.end, end) - max(chunk.start, start)) for chunk in draft if chunk.place != sector)
    return max(0, away - AWAY) // HOUR


def _likeness_to_habits(draft: Draft, persona: Persona) -> Thought[float]:
    """The mean over the clauses of the habits of how like the likest line is, -1..1."""
    lines = tuple(f"{chunk.activity} at {chunk.place}" for chunk in draft)
    clauses = [clause for clause in re.split(r"[,;.]| and ", persona.lifestyle) if clause.strip()]
    total = 0.0
    for clause in clauses:
        likeness = yield Compare(clause, lines)
        total += max(likeness)
    return total / max(len(clauses), 1)
