"""Behaviour alarms: what looks wrong in how people lived, told from the record alone, without a model.

An alarm is a measurement, not a fact of the world: nobody in the town knows of it, and it is no part of the log hash. It
means "look here", not "this is wrong": a cook may well be cooking for five hours. What other towns' users complained of most
is behind the kinds: agents asleep all day, talks that go in circles, the same pair talking at every turn, plans nobody
follows.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from localville.clock import DAY, HOUR, MINUTE, SimTime, format_clock, parse_clock
from localville.config import Persona, RunConfig
from localville.mind.naming import named_sectors
from localville.mind.plan import SLEEPING
from localville.record.reader import Line, RunReader
from localville.world.places import Address, Town

SAME_ACTION = 4 * HOUR
ALIKE = 0.6
"""Share of words in common from which two actions are the same; numbers do not count: formula 9, formula 10."""
NAP = HOUR
EDGE = 2 * HOUR
"""Around the hours of waking and of bed, in which to sleep is no alarm."""
DEAD_OF_NIGHT = 3 * HOUR
PHRASE = 4
REPEATED = 0.3
"""Share of a talk's phrases of four words that were said before in it."""
OFTEN = 4
"""Talks of a pair in a row, each as soon as the cooldown allowed it."""
SOON = 15 * MINUTE
LONG_PART = HOUR
IGNORED = 0.5
"""Share of a part of the day that was spent elsewhere."""
NEEDS = {
    r"\b(shower|bath)(ing)?\b": ("shower", "bath"),
    r"\bcook(ing)?\b": ("cook",),
    r"\bbak(e|ing)\b": ("cook", "bak"),
    r"\bsleep(ing)?\b": ("sleep", "bed", "rest"),
    r"\bbrush\w* (\w+ )?teeth\b": ("wash", "sink", "bath"),
}
"""What an activity needs, and words of which one must be in the name or the use of some object of its room."""
TALKING = "talking with "
NEVER = 2**40


class Alarm(NamedTuple):
    """Something to look at; ``since`` and ``until`` are game seconds, ``agent`` one name, or two joined by " and "."""

    kind: str
    agent: str
    since: int
    until: int
    text: str


def alarms(reader: RunReader, town: Town) -> list[Alarm]:
    """All alarms of a run, in the order of time, then of names."""
    config = RunConfig.model_validate(reader.manifest["config"])
    personas = [Persona.model_validate(data) for data in reader.personas()]
    found: list[Alarm] = []
    for persona in personas:
        lines = reader.timeline(persona.name)
        found += same_action(persona, lines)
        found += odd_sleep(persona, lines)
        found += unfitting_place(persona, lines, town)
        found += plan_ignored(persona, lines, reader.day_plans(persona.name))
        if len(personas) > 1:
            found += silent_day(persona, lines)
    talks = reader.talks()
    found += repetitive_talk(talks)
    found += same_pair(talks, config.profile.talk_cooldown_minutes * MINUTE)
    return sorted(found, key=lambda alarm: (alarm.since, alarm.agent, alarm.kind))


def same_action(persona: Persona, lines: list[Line]) -> Iterator[Alarm]:
    """The same action, or nearly the same, for more than four hours."""
    stretch: list[Line] = []
    for line in [*lines, None]:
        if line is not None and line.text.startswith(TALKING):
            continue
        if stretch and (line is None or not _alike(stretch[-1].text, line.text)):
            lasted = stretch[-1].end - stretch[0].start
            if lasted > SAME_ACTION and stretch[0].text != SLEEPING:
                text = f'{persona.name} is "{stretch[0].text}" or the like for {lasted / HOUR:.1f} hours'
                yield Alarm("same action", persona.name, stretch[0].start, stretch[-1].end, text)
            stretch = []
        if line is not None:
            stretch.append(line)


def odd_sleep(persona: Persona, lines: list[Line]) -> Iterator[Alarm]:
    """Asleep for an hour of the day, or up at three at night, against the person's own hours."""
    wake, bed = parse_clock(persona.wake), parse_clock(persona.sleep)
    for line in lines:
        for midnight in range(line.start - line.start % DAY, line.end, DAY):
            if line.text == SLEEPING and wake + EDGE < bed - EDGE:
                first, last = max(line.start, midnight + wake + EDGE), min(line.end, midnight + bed - EDGE)
                if last - first >= NAP:
                    when = f"{format_clock(first % DAY)} to {format_clock((last - 1) % DAY)}"
                    yield Alarm("asleep by day", persona.name, first, last, f"{persona.name} sleeps from {when}")
            night = midnight + DEAD_OF_NIGHT
            if line.text != SLEEPING and line.start <= night < line.end and (wake > DEAD_OF_NIGHT) and bed > wake:
                text = f'{persona.name} is "{line.text}" at {format_clock(DEAD_OF_NIGHT)}'
                yield Alarm("up at night", persona.name, line.start, line.end, text)


def silent_day(persona: Persona, lines: list[Line]) -> Iterator[Alarm]:
    """A whole day, from getting up to going to bed, without a talk."""
    for asleep, group in groupby(lines, key=lambda line: line.text == SLEEPING):
        day = list(group)
        ended = bool(lines) and day[-1] is not lines[-1]
        if asleep or not ended or any(line.text.startswith(TALKING) for line in day):
            continue
        text = f"{persona.name} talks to nobody all day"
        yield Alarm("no conversation", persona.name, day[0].start, day[-1].end, text)


def repetitive_talk(talks: list[tuple[int, list[tuple[str, str]]]]) -> Iterator[Alarm]:
    """A talk in which much was said before in it."""
    for at, said in talks:
        phrases: Counter[tuple[str, ...]] = Counter()
        for _, text in said:
            words = re.findall(r"[\w'-]+", text.casefold())
            phrases.update({tuple(words[n : n + PHRASE]) for n in range(len(words) - PHRASE + 1)})
        total = sum(phrases.values())
        again = total - len(phrases)
        if total and again / total >= REPEATED:
            most = " ".join(phrases.most_common(1)[0][0])
            text = f'{again / total:.0%} of the phrases of a talk were said before in it, "{most}" for one'
            yield Alarm("repetition in talk", _pair(said), at, at, text)


def same_pair(talks: list[tuple[int, list[tuple[str, str]]]], cooldown: int) -> Iterator[Alarm]:
    """Two who talk again and again, each time as soon as they may."""
    times: defaultdict[str, list[int]] = defaultdict(list)
    for at, said in talks:
        times[_pair(said)].append(at)
    for pair, ats in times.items():
        row = [ats[0]]
        for one, other in pairwise([*ats, NEVER]):
            if other - one <= cooldown + SOON:
                row.append(other)
                continue
            if len(row) >= OFTEN:
                yield Alarm("same pair", pair, row[0], row[-1], f"{pair} talk {len(row)} times in a row")
            row = [other]


def unfitting_place(persona: Persona, lines: list[Line], town: Town) -> Iterator[Alarm]:
    """Something done where it is not done: at another place than it names, or without what it needs."""
    sectors = tuple(sector.name for sector in town.sectors)
    for line in lines:
        if line.text == SLEEPING or line.text.startswith(TALKING) or not line.object:
            continue
        room = town.arena(Address(line.sector, line.arena))
        uses = " ".join(f"{thing.name} {thing.affords}" for thing in room.things).casefold()
        for pattern, words in NEEDS.items():
            if re.search(pattern, line.text) and not any(word in uses for word in words):
                text = f'{persona.name} is "{line.text}" at {line.sector}: {line.arena}'
                yield Alarm("unfitting place", persona.name, line.start, line.end, text)
        named, _ = named_sectors(line.text, sectors)
        if line.text.startswith(("going ", "walking ", "heading ")) and named and line.sector not in named:
            text = f'{persona.name} is "{line.text}" and stays at {line.sector}'
            yield Alarm("unfitting place", persona.name, line.start, line.end, text)


def plan_ignored(
    persona: Persona, lines: list[Line], plans: list[tuple[int, list[tuple[int, int, str, str]]]]
) -> Iterator[Alarm]:
    """A part of the day of an hour or more that was spent elsewhere for the most part. Talks count for neither."""
    for (made, plan), (following, _) in pairwise([*plans, (NEVER, [])]):
        midnight = SimTime(made).midnight.seconds
        for start, end, activity, place in plan:
            first, last = max(midnight + start, made), min(midnight + end, following)
            spent: Counter[bool] = Counter()
            for line in lines:
                if not line.text.startswith(TALKING):
                    spent[line.sector == place] += max(0, min(line.end, last) - max(line.start, first))
            lived = spent[True] + spent[False]
            if lived >= LONG_PART and spent[False] > IGNORED * lived:
                away = f"was elsewhere for {spent[False] / HOUR:.1f} hours"
                text = f'{persona.name} planned to "{activity}" at {place} and {away}'
                yield Alarm("plan ignored", persona.name, first, last, text)


def _alike(one: str, other: str) -> bool:
    mine, theirs = (set(re.findall(r"[^\W\d_]+", text.casefold())) for text in (one, other))
    return len(mine & theirs) >= ALIKE * len(mine | theirs)


def _pair(said: list[tuple[str, str]]) -> str:
    return " and ".join(sorted({speaker for speaker, _ in said}))
