"""Alarms about talking: none all day, the same words again and again, the same two as often as they may."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from localville.clock import DAY, HOUR, MINUTE, SimTime, parse_clock
from localville.record.alarm import Alarm, AlarmKind
from localville.study.lived import Life, Lived, Span, Talk
from localville.study.words import listed, phrases, span_words, spoken_words

LONG_DAY = 8 * HOUR
"""Of waking, from which a day without a talk counts; ours."""
COMPANY = HOUR
"""Awake in one room with somebody: enough to think twice of turning to them (profile `react_again_minutes`); ours."""

PHRASE = 4
"""Words: seq-rep-4, the share of 4-grams that are not the first of their kind (Welleck et al., arXiv 1908.04319, §6)."""
REPEATED_SHARE = 0.15
"""Of a talk's phrases, from which it repeats itself; ours: in eight turns of fifteen words, one whole turn."""
FEWEST_PHRASES = 12
"""In a talk that is judged so; ours: fewer are two short sentences."""
WHOLE_LINE = 4
"""Words of an utterance that should not be said twice in a talk; ours: shorter ones are greetings and thanks."""

SOON = 15 * MINUTE
"""After the end of the cooldown; ours: one fine action."""
RETURNS = 3
"""Talks in a row, each as soon as the one before allows it; ours: four talks of one pair in seven hours."""


def no_talk_all_day(lived: Lived) -> Iterator[Alarm]:
    """Who talks with nobody in a whole waking day, although others who are awake are in the same room for an hour."""
    present: dict[tuple[str, str], list[tuple[Span, str]]] = defaultdict(list)
    for life in lived.lives:
        for doing in life.doings:
            if doing.address.arena and not life.sleeps_at(doing.start):
                present[doing.address[:2]].append((doing.there, life.name))
    for life in lived.lives:
        for day in _waking_days(life, lived.span):
            if any(life.name in talk.pair and day.start <= talk.span.start < day.end for talk in lived.talks):
                continue
            with_whom: Counter[str] = Counter()
            for doing in life.doings:
                for span, name in present[doing.address[:2]] if doing.there.overlap(day).length else ():
                    if name != life.name:
                        with_whom[name] += span.overlap(doing.there).overlap(day).length
            if not with_whom or max(with_whom.values()) < COMPANY:
                continue
            names = listed([f"{name} ({span_words(spent)})" for name, spent in with_whom.most_common(3) if spent])
            text = f"{life.name} talked with nobody all day, though in one room with {names}"
            yield Alarm(life.name, "", AlarmKind.NO_TALK, *day, text)


def _waking_days(life: Life, lived: Span) -> Iterator[Span]:
    """From getting up to going to bed; a day that the run does not hold to its end is none."""
    wake, sleep = parse_clock(life.persona.wake), parse_clock(life.persona.sleep)
    bed = sleep if sleep > wake else DAY
    for number, night in enumerate(life.asleep):
        later = life.asleep[number + 1 :]
        midnight = SimTime(night.end).midnight.seconds
        over = bool(later) or lived.end >= midnight + bed
        day = Span(night.end, later[0].start if later else lived.end)
        if over and day.length >= LONG_DAY:
            yield day


def repetition(lived: Lived) -> Iterator[Alarm]:
    """Talks in which a whole line is said again, or too many phrases come again."""
    for talk in lived.talks:
        texts = [text for _, text in talk.lines]
        if said := _repeated_line(texts) or _repeated_phrases(texts):
            one, other = talk.pair
            text = f"{one} and {other} repeated themselves in a talk: {said}"
            yield Alarm(one, other, AlarmKind.REPETITION, *talk.span, text)


def _repeated_line(texts: list[str]) -> str:
    counts = Counter(tuple(spoken_words(text)) for text in texts)
    line, times = max(counts.items(), key=lambda item: item[1] if len(item[0]) >= WHOLE_LINE else 0)
    if times < 2 or len(line) < WHOLE_LINE:
        return ""
    first = next(text for text in texts if tuple(spoken_words(text)) == line)
    return f"'{first}' was said {times} times"


def _repeated_phrases(texts: list[str]) -> str:
    counts = phrases(texts, PHRASE)
    share = 1 - len(counts) / max(counts.total(), 1)
    if counts.total() < FEWEST_PHRASES or share < REPEATED_SHARE:
        return ""
    phrase, times = counts.most_common(1)[0]
    return f"{share:.0%} of its phrases of {PHRASE} words came again, '{' '.join(phrase)}' {times} times"


def same_pair_again(lived: Lived) -> Iterator[Alarm]:
    """Two who talk again each time as soon as the cooldown allows, several times in a row."""
    cooldown = lived.config.profile.talk_cooldown_minutes
    talks_of: dict[tuple[str, ...], list[Talk]] = defaultdict(list)
    for talk in lived.talks:
        talks_of[tuple(sorted(talk.pair))].append(talk)
    for talks in talks_of.values():
        row = [talks[0]]
        for talk, following in zip(talks, [*talks[1:], None], strict=True):
            if following and following.span.start - talk.span.end <= cooldown * MINUTE + SOON:
                row.append(following)
                continue
            if len(row) > RETURNS:
                one, other = row[0].pair
                times = listed([SimTime(each.span.start).hhmm for each in row])
                text = (
                    f"{one} and {other} talked as often as the {cooldown} minutes between two talks allow: at {times}"
                )
                yield Alarm(one, other, AlarmKind.SAME_PAIR, row[0].span.start, row[-1].span.end, text)
            row = [following] if following else []
