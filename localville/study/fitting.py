"""Alarms about places: something done where it cannot be, a place entered after closing, more people than a place holds.

Told from words, affordances and norms alone, so that what is told is right; much that is odd in subtler ways is missed
(paper §7.2 names lunch in the bar, the shared bathroom of one, and shops after closing).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from localville.clock import DAY, MINUTE, format_clock
from localville.record.alarm import Alarm, AlarmKind
from localville.study.lived import Doing, Life, Lived, Span, days_of
from localville.study.words import listed, span_words
from localville.world.places import Address, Arena, Town
from localville.world.residents import is_bed

CLOSED_FOR = 15 * MINUTE
"""In a closed place; ours: one fine action, so that who leaves a little late is let go."""
CROWDED_FOR = 5 * MINUTE
"""Of more people than a place holds: the shortest action (paper §4.3). Who comes and who goes may meet."""

_SOMEBODYS = r"(?:(?:the|a|an|her|his|their|some)\s+)?"

_MEAL = "(?:breakfast|lunch|dinner|supper)"
_ON_PAPER = "(?! (?:plan|list|menu|invitation|reservation|arrangement))"

NEEDS = (
    (
        rf"(?:cooking|baking|frying|boiling)\b|(?:making|preparing) {_SOMEBODYS}{_MEAL}\b{_ON_PAPER}",
        r"cook|bak|food|kitchen|stove|oven|grill|fire|picnic|meal",
    ),
    (rf"showering\b|(?:taking|having) {_SOMEBODYS}(?:(?!baby)\w+ )?(?:shower|bath)\b", r"shower|bath"),
    (rf"brushing {_SOMEBODYS}teeth\b", r"sink|wash|bath|shower|teeth"),
    (rf"playing {_SOMEBODYS}piano\b", r"piano"),
    (rf"watching {_SOMEBODYS}(?:television|tv)\b", r"television|\btv\b|screen"),
    (
        rf"(?:getting|climbing) (?:out of|into) {_SOMEBODYS}bed\b|(?:making|going to) {_SOMEBODYS}bed$",
        r"^bed$|sleep",
    ),
)
"""How an action begins that needs an object, and the words of which one is in what such an object is called or affords;
ours. An action is told only if its room has no such object and some other room of the town has."""

_BED = rf"sleeping\b|falling asleep\b|going to (?:sleep|{_SOMEBODYS}bed)$|getting (?:out of|into) {_SOMEBODYS}bed\b"
"""How an action begins that is done at home; ours."""

_BODILY = (
    "arriving|sitting|standing|having|eating|drinking|enjoying|working|studying|reading|writing|relaxing|resting|waiting"
    "|serving|cooking|baking|cleaning|sweeping|playing|practising|practicing|sleeping|walking"
)
_ON_IT = "cleaning|sweeping|opening|closing|locking|tidying|decorating|entering"
_THITHER = "(?:going|walking|heading|returning|hurrying)(?: (?:back|over|home|straight|off|out))*"
_NO_OTHER_WORD = r"(?!(?:about|on|for|of|to|with|from|at|in)\b)[\w'’-]+"
"""Behind one of these words the place is what it is about: "reading about the exhibition at the library"."""


def unfitting_place(lived: Lived) -> Iterator[Alarm]:
    """Who does what another place is for, is in a place that is closed, or is one too many there."""
    names = _name_patterns(lived.town)
    for life in lived.lives:
        yield from _misplaced_rows(life, lived.town, names)
        yield from _after_hours(life, lived)
    yield from _crowds(lived)


def _misplaced_rows(life: Life, town: Town, names: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[Alarm]:
    """One alarm for each row of actions of which the same is to be said."""
    home = town.find(life.persona.home).sector
    doings = [doing for doing in life.doings if doing.there.length and doing.address.arena and not doing.talk]
    for complaint, group in groupby(doings, key=lambda doing: _misplaced(doing, town, home, names)):
        row = list(group)
        if complaint:
            more = f", and {len(row) - 1} more of the kind" if len(row) > 1 else ""
            text = f"{life.name} was '{row[0].text}' at {_spoken(row[0].address)}, {complaint}{more}"
            yield Alarm(life.name, "", AlarmKind.UNFITTING_PLACE, row[0].arrived, row[-1].end, text)


def _misplaced(doing: Doing, town: Town, home: str, names: Sequence[tuple[str, re.Pattern[str]]]) -> str:
    for sector, pattern in names:
        if sector != doing.address.sector and pattern.match(doing.text):
            return f"which is not {sector}"
    if doing.address.sector != home and re.match(_BED, doing.text, re.IGNORECASE):
        return "which is not home"
    arena = town.arena(doing.address)
    for action, object_words in NEEDS:
        done = re.match(action, doing.text, re.IGNORECASE)
        if done and not _offers(arena, object_words) and any(_offers(room, object_words) for room in town.arenas()):
            return "where nothing is for that"
    return ""


def _offers(arena: Arena, object_words: str) -> bool:
    words = re.compile(object_words, re.IGNORECASE)
    return any(words.search(text) for thing in arena.things for text in (thing.name, thing.affords))


def _name_patterns(town: Town) -> list[tuple[str, re.Pattern[str]]]:
    """For each sector, how an action begins that is done there: "having lunch at the cafe", "going to Hobbs Cafe".

    "The cafe" is Hobbs Cafe if no other sector's name ends so; "the apartment" may be anybody's, so homes are named in full.
    """
    last = Counter(sector.name.split()[-1].casefold() for sector in town.sectors)
    patterns = []
    for sector in town.sectors:
        full, short = re.escape(sector.name), re.escape(sector.name.split()[-1])
        names = [full if " " in sector.name else f"(?-i:{full})", f"the {full}"]
        lived_in = any(is_bed(thing) for arena in sector.arenas for thing in arena.things)
        if last[sector.name.split()[-1].casefold()] == 1 and not lived_in:
            names.append(f"the {short}")
        name = rf"(?:{'|'.join(names)})(?![\w'’-])"
        there = rf"(?:{_BODILY})(?: {_NO_OTHER_WORD}){{0,3}} (?:at|in|inside) {name}"
        it = rf"(?:{_ON_IT})(?: up)? {name}$"
        thither = rf"{_THITHER} to {name}$"
        patterns.append((sector.name, re.compile(f"{there}|{it}|{thither}", re.IGNORECASE)))
    return patterns


def _after_hours(life: Life, lived: Lived) -> Iterator[Alarm]:
    """Visits to closed places; whoever lives or works there may be."""
    own = {lived.town.find(place).sector for place in (life.persona.home, life.persona.workplace) if place}
    for address, group in groupby(life.doings, key=lambda doing: Address(*doing.address[:2])):
        row = list(group)
        hours = lived.town.arena(address).hours if address.arena else None  # the street is always open
        if hours is None or address.sector in own:
            continue
        closed = sum(doing.there.length - _open_in(doing.there, hours) for doing in row)
        if closed >= CLOSED_FOR:
            opening, closing = map(format_clock, hours)
            text = (
                f"{life.name} was at {_spoken(address)}, which is open from {opening} to {closing}, "
                f"for {span_words(closed)} outside of these hours: '{row[0].text}'"
            )
            yield Alarm(life.name, "", AlarmKind.UNFITTING_PLACE, row[0].arrived, row[-1].end, text)


def _open_in(span: Span, hours: tuple[int, int]) -> int:
    """Seconds of a span within opening hours; those that close before they open are of the day before, too."""
    first, last = hours
    last += DAY if last <= first else 0
    days = days_of(Span(span.start - DAY, span.end))
    return sum(span.overlap(Span(midnight + first, midnight + last)).length for midnight in days)


def _crowds(lived: Lived) -> Iterator[Alarm]:
    """Rooms with more people in them than they hold, as long as they do; the alarm is about who came last."""
    stays: dict[tuple[str, ...], list[tuple[Span, str]]] = defaultdict(list)
    for life in lived.lives:
        here: tuple[str, ...] = ()
        for doing in life.doings:
            room = doing.address[:2]
            # From one object to another of the same room nobody leaves it.
            stays[room].append((doing.span if room == here else doing.there, life.name))
            here = room
    for arena in lived.town.arenas():
        if arena.capacity is not None:
            yield from _crowds_in(arena, arena.capacity, stays[arena.address[:2]])


def _crowds_in(arena: Arena, capacity: int, stays: Sequence[tuple[Span, str]]) -> Iterator[Alarm]:
    moments = sorted({moment for span, _ in stays for moment in span})
    inside = [(span, _inside(stays, span)) for span in map(Span._make, pairwise(moments))]
    for crowded, group in groupby(inside, key=lambda item: len(item[1]) > capacity):
        row = list(group)
        span = Span(row[0][0].start, row[-1][0].end)
        if crowded and span.length >= CROWDED_FOR:
            came = {name: start for _, people in reversed(row) for name, start in people.items()}
            names = sorted(came, key=lambda name: (came[name], name))
            holds = "one person" if capacity == 1 else f"{capacity} people"
            text = (
                f"{listed(names)} were at {_spoken(arena.address)}, which holds {holds}, for {span_words(span.length)}"
            )
            partner = names[0] if len(names) == 2 else ""
            yield Alarm(names[-1], partner, AlarmKind.UNFITTING_PLACE, *span, text)


def _inside(stays: Sequence[tuple[Span, str]], span: Span) -> dict[str, int]:
    """Who is there in a span, and since when."""
    return {name: stay.start for stay, name in stays if stay.overlap(span).length}


def _spoken(address: Address) -> str:
    """``Dorm: common room, couch``."""
    return f"{address.sector}: {', '.join(part for part in address[1:] if part)}"
