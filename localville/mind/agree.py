"""What somebody agreed to in a talk: nothing, or to be at a place at a time, today or tomorrow.

Whether, is a choice with its probabilities on record; when, where and what is written under a grammar of the hours that are
left and the places this person knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from localville.clock import DAY, HOUR, MINUTE, format_clock, parse_clock
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Grammar, Part, Prompt, Write
from localville.llm.gbnf import quote
from localville.llm.grammars import phrase_rules
from localville.mind.promise import Promise
from localville.mind.prompting import part, render
from localville.mind.react import NO, YES
from localville.mind.thought import Thought, View

TODAY, TOMORROW = "today", "tomorrow"
SURE = 0.25
"""Temperature of the choice; ours."""
STEP = 30 * MINUTE
LONGEST = 3 * HOUR
EARLIEST = 6 * HOUR
"""Nobody is asked to come before six."""
ACTIVITY_BYTES = 56
TIME = re.compile(
    r"\d|\b(today|tonight|tomorrow|noon|midday|morning|afternoon|evening|night|later|now|o'clock|half past"
    r"|at (one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b",
    re.IGNORECASE,
)


def agreed(view: View, partner: str, script: Sequence[str], source: str) -> Thought[Promise | None]:
    """Finds what a person has agreed to in a talk, if anything. ``source``: the memory that tells of the talk."""
    if not any(TIME.search(line) for line in script):
        return None  # nobody has spoken of a time: there is nothing to agree to
    parts = (
        Part("town", render("agreed")),
        part("situation", "agreed_script", lines=script),
    )
    ask = part("situation", "agreed_ask", persona=view.persona)
    answer = yield Ask("agreed", Prompt((*parts, ask)), Choose((NO, YES), temperature=SURE))
    if answer.value == NO:
        return None
    starts = {TODAY: _starts(view.now.second_of_day), TOMORROW: _starts(0)}
    grammar = meeting_grammar({day: times for day, times in starts.items() if times}, view.tree.sectors())
    prompt = Prompt((*parts, Part("situation", f"{ask.text}{answer.value}, ")))
    meeting = yield Ask("agreed.when", prompt, Write(grammar, budget(grammar)))
    day, start, end, place, activity = parse_meeting(meeting.value)
    date = view.now if day == TODAY else view.now.midnight + DAY
    return Promise(date.iso[:10], start, end, place, f"{activity} with {partner}", source)


def meeting_grammar(starts: Mapping[str, Sequence[int]], places: Sequence[str]) -> Grammar:
    """``tomorrow from 10:00 to 11:30 at Hobbs Cafe: celebrate together``.

    ``starts``: for each day the times at which it may begin, in seconds of the day.
    """
    rules, days = [], []
    for name, times in starts.items():
        days.append(f"{quote(name + ' from ')} {name}")
        ways = []
        for start in times:
            ends = range(start + STEP, min(start + LONGEST, DAY) + 1, STEP)
            tails = " | ".join(quote(format_clock(end)) for end in ends)
            ways.append(f"{quote(format_clock(start) + ' to ')} ({tails})")
        rules.append(f"{name} ::= {' | '.join(ways)}")
    where = " | ".join(quote(place) for place in places)
    root = f'root ::= ({" | ".join(days)}) " at " ({where}) ": " phrase "\\n"'
    return Grammar("meeting", "\n".join([root, *rules, *phrase_rules(ACTIVITY_BYTES), ""]))


def parse_meeting(text: str) -> tuple[str, int, int, str, str]:
    """Reads a text of ``meeting_grammar``: day, start, end, place, activity."""
    day, _, rest = text.rstrip("\n").partition(" from ")
    span, _, rest = rest.partition(" at ")
    start, _, end = span.partition(" to ")
    place, _, activity = rest.rpartition(": ")
    return day, parse_clock(start), parse_clock(end), place, activity


def _starts(now: int) -> list[int]:
    first = max(EARLIEST, now - now % STEP + STEP)
    return list(range(first, DAY - STEP + 1, STEP))
