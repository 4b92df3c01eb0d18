"""What somebody agreed to in a talk: nothing, or to be at a place at a time, today or tomorrow.

Whether, is a choice with its probabilities on record; when, where and what is written under a grammar of the hours that are
left and the places this person knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from localville.clock import DAY, HOUR, MINUTE, format_clock, parse_clock
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Grammar, Part, Prompt, Write
from localville.llm.gbnf import quote
from localville.llm.grammars import phrase_rules
from localville.mind.promise import Promise
from localville.mind.prompting import part, render
from localville.mind.thought import Thought, View

NOTHING, TODAY, TOMORROW = " nothing", " today", " tomorrow"
STEP = 30 * MINUTE
LONGEST = 3 * HOUR
EARLIEST = 6 * HOUR
"""Nobody is asked to come before six."""
ACTIVITY_BYTES = 56


def agreed(view: View, partner: str, script: Sequence[str], source: str) -> Thought[Promise | None]:
    """Finds what a person has agreed to in a talk, if anything. ``source``: the memory that tells of the talk."""
    starts_today = _starts(view.now.second_of_day)
    options = (NOTHING, TODAY, TOMORROW) if starts_today else (NOTHING, TOMORROW)
    parts = (
        Part("town", render("agreed")),
        part("situation", "agreed_script", lines=script),
    )
    ask = part("situation", "agreed_ask", persona=view.persona)
    answer = yield Ask("agreed", Prompt((*parts, ask)), Choose(options))
    if answer.value == NOTHING:
        return None
    day = view.now if answer.value == TODAY else view.now.midnight + DAY
    grammar = meeting_grammar(starts_today if answer.value == TODAY else _starts(0), view.tree.sectors())
    prompt = Prompt((*parts, Part("situation", f"{ask.text}{answer.value} from ")))
    meeting = yield Ask("agreed.when", prompt, Write(grammar, budget(grammar)))
    start, end, place, activity = parse_meeting(meeting.value)
    return Promise(day.iso[:10], start, end, place, f"{activity} with {partner}", source)


def meeting_grammar(starts: Sequence[int], places: Sequence[str]) -> Grammar:
    """``10:00 to 11:30 at Hobbs Cafe: celebrate together``, beginning at one of ``starts`` (seconds of the day)."""
    rules = []
    for start in starts:
        ends = range(start + STEP, min(start + LONGEST, DAY) + 1, STEP)
        tails = " | ".join(quote(format_clock(end)) for end in ends)
        rules.append(f"{quote(format_clock(start) + ' to ')} ({tails})")
    where = " | ".join(quote(place) for place in places)
    root = f'root ::= ({" | ".join(rules)}) " at " ({where}) ": " phrase "\\n"'
    return Grammar("meeting", "\n".join([root, *phrase_rules(ACTIVITY_BYTES), ""]))


def parse_meeting(text: str) -> tuple[int, int, str, str]:
    """Reads a text of ``meeting_grammar``: start, end, place, activity."""
    span, _, rest = text.rstrip("\n").partition(" at ")
    start, _, end = span.partition(" to ")
    place, _, activity = rest.rpartition(": ")
    return parse_clock(start), parse_clock(end), place, activity


def _starts(now: int) -> list[int]:
    first = max(EARLIEST, now - now % STEP + STEP)
    return list(range(first, DAY - STEP + 1, STEP))
