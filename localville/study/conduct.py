"""Alarms about how somebody spends the day: the same action for hours, sleep at odd hours, a plan that is not followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from localville.clock import DAY, HOUR, MINUTE, SimTime, parse_clock
from localville.config import Persona
from localville.record.alarm import Alarm, AlarmKind
from localville.study.lived import Doing, Life, Lived, Span, days_of
from localville.study.words import content_words, listed, same_action, span_words

SAME_FOR = 4 * HOUR
"""Of the same action; ours. A working day has other things in it within a morning."""
PAUSE = 15 * MINUTE
"""Of something else that does not end it: the longest fine action (paper §4.3)."""

DAYTIME = Span(10 * HOUR, 18 * HOUR)
"""Seconds of the day in which people are up; ours, late enough for those who like to lie in."""
WAKING_STRAYS = 90 * MINUTE
"""How far from a persona's habit it may choose to get up (`localville/mind/plan.py`: three half hours)."""
NAP = HOUR
"""Sleep of the day up to this is a nap; ours."""
NIGHT = 3 * HOUR
"""When nearly everybody sleeps, as a second of the day; ours."""

PART_OF_PLAN = HOUR
"""Parts of a plan from this length are compared with what was done; ours."""
JUDGED = PART_OF_PLAN // 2
"""What must be left of such a part without talks and walks; ours."""


def same_action_for_hours(lived: Lived) -> Iterator[Alarm]:
    """Who does the same, in nearly the same words, for more than four hours; talks and short pauses do not end it."""
    for life in lived.lives:
        doings = [doing for doing in life.doings if not doing.talk and not life.sleeps_at(doing.start)]
        done = 0
        for number, first in enumerate(doings):
            if first.start < done:
                continue
            alike = _alike(first, doings[number:], life)
            spent = sum(doing.span.length for doing in alike)
            if spent <= SAME_FOR:
                continue
            done = alike[-1].end
            texts = list(dict.fromkeys(doing.text for doing in alike))
            times = f"{len(alike)} times" if len(texts) == 1 else f"{len(alike)} actions alike, the last '{texts[-1]}'"
            text = f"{life.name} did the same for {span_words(spent)}: '{first.text}', {times}"
            yield Alarm(life.name, "", AlarmKind.SAME_ACTION, first.start, done, text)


def _alike(first: Doing, doings: Sequence[Doing], life: Life) -> list[Doing]:
    """The actions like the first one, until something else has lasted longer than a pause."""
    alike: list[Doing] = []
    elsewise = 0
    for doing in doings:
        if same_action(first.text, doing.text):
            alike.append(doing)
            elsewise = 0
        else:
            elsewise += doing.span.length
        if elsewise > PAUSE or any(first.start < span.start <= doing.start for span in life.asleep):
            break
    return alike


def odd_sleep(lived: Lived) -> Iterator[Alarm]:
    """Who sleeps by day, or is awake in the dead of night, against the habits of the persona."""
    for life in lived.lives:
        habits = f"though {life.name} usually sleeps from {life.persona.sleep} to {life.persona.wake}"
        for midnight in days_of(lived.span):
            first, last = _waking_hours(life.persona)
            day = Span(midnight + max(first, DAYTIME.start), midnight + min(last, DAYTIME.end))
            naps = [span for sleep in _sleep(life) if (span := sleep.overlap(day)).length]
            slept = sum(span.length for span in naps)
            if slept > NAP:
                text = f"{life.name} slept for {span_words(slept)} of the day, {habits}"
                yield Alarm(life.name, "", AlarmKind.ODD_SLEEP, naps[0].start, naps[-1].end, text)
            night = midnight + NIGHT
            inside = lived.span.start <= night < lived.span.end
            if inside and not _up_at_night(life.persona) and not any(s.start <= night < s.end for s in _sleep(life)):
                doing = next((doing for doing in life.doings if doing.start <= night < doing.end), None)
                what = f": '{doing.text}' at {doing.address.sector}" if doing else ""
                text = f"{life.name} was awake at {SimTime(night).hhmm}, {habits}{what}"
                yield Alarm(life.name, "", AlarmKind.ODD_SLEEP, night, doing.end if doing else night, text)


def _waking_hours(persona: Persona) -> tuple[int, int]:
    """The seconds of the day between which a persona is surely up, by its own habits."""
    wake, sleep = parse_clock(persona.wake), parse_clock(persona.sleep)
    return wake + WAKING_STRAYS, sleep if sleep > wake else DAY


def _up_at_night(persona: Persona) -> bool:
    wake, sleep = parse_clock(persona.wake), parse_clock(persona.sleep)
    return wake - WAKING_STRAYS <= NIGHT or NIGHT < sleep <= wake


def _sleep(life: Life) -> list[Span]:
    """Nights, and actions that are called sleeping; without overlaps, in order."""
    named = [doing.there for doing in life.doings if content_words(doing.text)[:1] in (["sleeping"], ["asleep"])]
    spans: list[Span] = []
    for span in sorted((*life.asleep, *named)):
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, span.end))
        else:
            spans.append(span)
    return spans


def plan_ignored(lived: Lived) -> Iterator[Alarm]:
    """Who is elsewhere for most of a part of the plan; talks, walks, waits in the street do not count."""
    sectors = {sector.name for sector in lived.town.sectors}
    for life in lived.lives:
        for part in life.plan:
            if part.span.length < PART_OF_PLAN or part.place not in sectors:
                continue
            spent: Counter[str] = Counter()
            for doing in life.doings:
                if not doing.talk and doing.address.sector in sectors:
                    spent[doing.address.sector] += doing.there.overlap(part.span).length
            counted = spent.total()
            away = counted - spent.pop(part.place, 0)
            if counted < JUDGED or 2 * away <= counted:
                continue
            places = listed([f"{sector} ({span_words(seconds)})" for sector, seconds in spent.most_common() if seconds])
            text = (
                f"{life.name} had planned '{part.activity}' at {part.place} and spent {span_words(away)} of "
                f"{span_words(counted)} elsewhere: {places}"
            )
            yield Alarm(life.name, "", AlarmKind.PLAN_IGNORED, part.start, part.end, text)
