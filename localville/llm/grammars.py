"""The grammars of answers: files by name, and those built from the state of the world, each beside its parser.

Built grammars are state machines written out as rules, so that what must hold (lines follow one another, the whole span
is covered, nothing overlaps) is the grammar's business and cannot be missed by a model (ENGINE.md 5). A parser takes
every text its grammar allows and nothing is repaired in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from localville.assets import grammars_dir
from localville.clock import DAY, HOUR, MINUTE, format_clock, parse_clock
from localville.errors import GrammarError
from localville.llm.engine import Grammar
from localville.llm.gbnf import parse, quote

ACTIVITY_BYTES = 64
"""Longest activity of a daily plan. The paper's longest example, "wake up and complete the morning routine", has 40."""
ACTION_BYTES = 72
"""Longest fine action; the paper's "take a short break in the garden" has 32."""
LONGEST_DOING = 14
"""Letters of the first word of a fine action, "congratulating"."""
SHORTEST_HOUR = 30 * MINUTE
"""What is left of an hour at a chunk's ends and shorter is no hour of its own."""
LONGEST_CHUNK = 4 * HOUR
"""The paper's day plan has 5 to 8 broad strokes (paper 4.3); over a 17 hour day that is 2 to 3½ hours each."""


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """One line of a day plan or of its hours; ``start`` and ``end`` are seconds of the day."""

    start: int
    end: int
    activity: str
    place: str


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """One line of an hour; ``start`` is a second of the day."""

    start: int
    minutes: int
    text: str


@lru_cache(maxsize=64)
def load_grammar(name: str) -> Grammar:
    """Reads ``grammars/NAME.gbnf``."""
    path = grammars_dir() / f"{name}.gbnf"
    try:
        grammar = Grammar(name, path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in grammars_dir().glob("*.gbnf")))
        raise GrammarError(
            "there is no such file", where=f"grammar '{name}'", next=f"Known grammars: {known}"
        ) from None
    parse(grammar)
    return grammar


def phrase_rules(longest: int) -> list[str]:
    """Rules for ``phrase``: two or more words of at most ``longest`` UTF-8 bytes in all, the first in lower case.

    Single spaces or a comma and a space between words; apostrophes and hyphens only inside them; accents allowed. The
    rule ``pN`` stands after a letter with N bytes left, ``fN`` the same within the first word: counting in the rules
    bounds the whole phrase more tightly than so many words of so many letters would.
    """

    def step(state: str, left: int) -> str:
        ways = [] if state == "f" else ['""']
        if left >= 1 + (state == "f") * 2:
            ways.append(f"[a-zA-Z0-9] {state}{left - 1}")
        if left >= 2 + (state == "f") * 2:
            ways.append(f"[À-ÖØ-öø-ž] {state}{left - 2}")
            ways.append(f"['-] [a-zA-Z0-9] {state}{left - 2}")
        if left >= 2:
            ways.append(f'" " [a-zA-Z0-9] p{left - 2}')
        if left >= 3:
            ways.append(f'", " [a-zA-Z0-9] p{left - 3}')
        return f"{state}{left} ::= {' | '.join(ways)}"

    if longest < 3:
        raise GrammarError(f"a phrase needs at least 3 bytes, not {longest}")
    first = [step("f", left) for left in range(longest - 1, 1, -1)]
    later = [step("p", left) for left in range(longest - 3, -1, -1)]
    return [f"phrase ::= [a-z] f{longest - 1}", *first, *later]


def doing_rules(longest: int) -> list[str]:
    """Rules for ``doing``: what stands after "is", at most ``longest`` bytes whose first word ends in -ing.

    The later words are those of ``phrase_rules``. Like it, ``gN`` stands within the first word with N bytes left. That
    word is bounded by itself: a 1.5B that would rather have ended went on with "endingsacaosacaosacaos…" to the limit.
    """
    if longest < 8:
        raise GrammarError(f"an activity needs at least 8 bytes, not {longest}")
    first = []
    shortest = max(3, longest - LONGEST_DOING + 3)
    for left in range(longest - 2, shortest - 1, -1):
        ends = [f'"ing" e{left - 3}']
        first.append(f"g{left} ::= {' | '.join(([f'[a-z] g{left - 1}'] if left > shortest else []) + ends)}")
    ended = []
    for left in range(longest - 5, shortest - 4, -1):
        ways = ['""'] + ([f'" " [a-zA-Z0-9] p{left - 2}'] if left >= 2 else [])
        ended.append(f"e{left} ::= {' | '.join(ways)}")
    later = [rule for rule in phrase_rules(longest) if rule.startswith("p") and not rule.startswith("phrase")]
    return [f"doing ::= [a-z] [a-z] g{longest - 2}", *first, *ended, *later]


def day_plan_grammar(
    wake: int,
    sleep: int,
    places: Sequence[str],
    *,
    first_place: str | None = None,
    fixed: Sequence[PlannedChunk] = (),
    min_chunks: int = 5,
    max_chunks: int = 8,
    grid_minutes: int = 30,
    longest_chunk: int = LONGEST_CHUNK,
    longest_activity: int = ACTIVITY_BYTES,
) -> Grammar:
    """A whole day as lines ``07:00-08:00 Isabella's apartment: wake up and have breakfast``.

    The place comes first: a small model that has named it does not go on to name another in the activity.

    ``wake`` and ``sleep`` are seconds of the day on whole minutes, at most 86400; ``longest_chunk`` is in seconds. The
    first line begins at ``wake``, each other where the one before ends, the last ends at ``sleep``; a blank line closes
    the plan as it closes the examples, else a model that wants to end goes on within the line. Chunks end on the
    grid (of the clock, not counted from ``wake``) and last from one grid step to ``longest_chunk``. The rule
    ``t435-2`` stands at minute 435 with two chunks written. ``first_place``: where the first line must be (people wake
    up at home). ``fixed``: lines that the plan has as they are, in order and apart, each on whole minutes; the gap beside
    one may be shorter than a grid step. Raises GrammarError when no plan is possible.
    """
    where = f"day plan {format_clock(wake)} to {format_clock(sleep)}"
    _check_span(wake, sleep, where)
    if grid_minutes < 1 or not 1 <= min_chunks <= max_chunks:
        raise GrammarError(f"no plan has {min_chunks} to {max_chunks} chunks on {grid_minutes} minutes", where=where)
    start, end, grid, longest = wake // MINUTE, sleep // MINUTE, grid_minutes, longest_chunk // MINUTE

    held = {chunk.start // MINUTE: chunk for chunk in fixed}
    _check_fixed(fixed, wake, sleep, where)

    def ends(minute: int) -> list[int]:
        if minute in held:
            return [held[minute].end // MINUTE]
        limit = min((begins for begins in held if begins > minute), default=end)
        on_grid = range((minute // grid + 1) * grid, limit, grid)
        short = bool(held) and limit - minute < grid
        return [to for to in (*on_grid, limit) if (short or grid <= to - minute) and to - minute <= longest]

    # Backwards from the end: which chunk counts lead from a minute to the end, so that no rule is a dead end.
    counts: dict[int, set[int]] = {end: {0}}
    for minute in range(end - 1, start - 1, -1):
        counts[minute] = {count + 1 for to in ends(minute) for count in counts[to] if count < max_chunks}

    def alive(minute: int, written: int) -> bool:
        return any(min_chunks <= written + count <= max_chunks for count in counts[minute])

    if not alive(start, 0):
        raise GrammarError(
            f"{min_chunks} to {max_chunks} chunks of {grid} to {longest} minutes do not fill it",
            where=where,
            next="Change the number of chunks or the hours",
        )
    rules: list[str] = []
    states = [(start, 0)]
    for minute, written in states:
        ways = []
        for to in ends(minute):
            do = f'{"place" if written or first_place is None else "first"} ": " phrase'
            if minute in held:
                do = quote(f"{held[minute].place}: {held[minute].activity}")
            if to == end and written + 1 >= min_chunks:
                ways.append(f'"{_clock(to)} " {do} "\\n\\n"')
            elif to != end and alive(to, written + 1):
                ways.append(f'"{_clock(to)} " {do} "\\n" t{to}-{written + 1}')
                if (to, written + 1) not in states:
                    states.append((to, written + 1))
        rules.append(f't{minute}-{written} ::= "{_clock(minute)}-" ({" | ".join(ways)})')
    head = [f"root ::= t{start}-0", f"place ::= {_either(places, where)}"]
    if first_place is not None:
        head.append(f"first ::= {quote(first_place)}")
    return Grammar("day_plan", "\n".join([*head, *rules, *phrase_rules(longest_activity), ""]))


def parse_day_plan(text: str) -> tuple[PlannedChunk, ...]:
    """Reads a text of ``day_plan_grammar``."""
    chunks = []
    for line in _lines(text):
        span, _, rest = line.partition(" ")
        start, _, end = span.partition("-")
        # The last ": " is the right one: a phrase has no colon, a place may.
        place, _, activity = rest.rpartition(": ")
        chunks.append(PlannedChunk(parse_clock(start), parse_clock(end), activity, place))
    return tuple(chunks)


def hours_of(start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The clock hours of a span, as seconds of the day; what is left of an hour joins its neighbour if under 30 minutes."""
    cuts = [start, *range(start - start % HOUR + HOUR, end, HOUR), end]
    if len(cuts) > 2 and cuts[1] - cuts[0] < SHORTEST_HOUR:
        del cuts[1]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < SHORTEST_HOUR:
        del cuts[-2]
    return tuple(pairwise(cuts))


def hours_grammar(start: int, end: int, *, longest_activity: int = ACTIVITY_BYTES) -> Grammar:
    """A chunk of a day, hour by hour, as lines ``07:00-08:00 have breakfast and wash up`` with the times of ``hours_of``.

    ``start`` and ``end`` are seconds of the day on whole minutes.
    """
    _check_span(start, end, f"hours {format_clock(start)} to {format_clock(end)}")
    lines = [f'"{format_clock(first)}-{format_clock(last)} " phrase' for first, last in hours_of(start, end)]
    root = ' "\\n" '.join(lines)
    return Grammar("hours_plan", "\n".join([f'root ::= {root} "\\n\\n"', *phrase_rules(longest_activity), ""]))


def parse_hours(text: str, place: str) -> tuple[PlannedChunk, ...]:
    """Reads a text of ``hours_grammar``; all its hours are spent at ``place``."""
    chunks = []
    for line in _lines(text):
        span, _, activity = line.partition(" ")
        start, _, end = span.partition("-")
        chunks.append(PlannedChunk(parse_clock(start), parse_clock(end), activity, place))
    return tuple(chunks)


def hour_grammar(
    start: int,
    end: int,
    *,
    lengths: Sequence[int] = (5, 10, 15),
    most_actions: int | None = None,
    longest_action: int = ACTION_BYTES,
) -> Grammar:
    """Fine actions of an hour or less as lines ``07:10 taking a shower``, closed by a line ``08:00 ---``.

    An action is told as what somebody is doing, so that "Maria is " and the action make the memory (paper §4.1).

    ``start`` and ``end`` are seconds of the day on whole minutes. A line says when an action begins, the next line thus
    how long it lasted: one of ``lengths`` (minutes). ``most_actions``: no more lines than these, however short they are.
    The rule ``t430-2`` stands at minute 430 with two lines written. Raises GrammarError when no sequence of lengths
    fills the span exactly.
    """
    where = f"hour plan {format_clock(start)} to {format_clock(end)}"
    _check_span(start, end, where)
    first, last = start // MINUTE, end // MINUTE
    steps = sorted(set(lengths))
    if not steps or steps[0] < 1:
        raise GrammarError(f"actions cannot last {list(lengths)} minutes", where=where)
    fewest = {last: 0}
    for minute in range(last - 1, first - 1, -1):
        if ways := [fewest[minute + step] + 1 for step in steps if minute + step in fewest]:
            fewest[minute] = min(ways)
    most = last - first if most_actions is None else most_actions
    if fewest.get(first, most + 1) > most:
        limit = "" if most_actions is None else f"{most_actions} "
        raise GrammarError(f"{limit}actions of {steps} minutes do not fill it exactly", where=where)
    rules: list[str] = []
    states = [(first, 0)]
    for minute, used in states:
        one_more = used + (most_actions is not None)
        ways_on = [minute + step for step in steps if fewest.get(minute + step, most + 1) + one_more <= most]
        for to in ways_on:
            if to != last and (to, one_more) not in states:
                states.append((to, one_more))
        ways_out = " | ".join("end" if to == last else f"t{to}-{one_more}" for to in ways_on)
        rules.append(f't{minute}-{used} ::= "{_clock(minute)} " doing "\\n" ({ways_out})')
    # No word: with "end" for a mark, a 1.5B that had nothing left to do wrote "endendend…ing" (docs/log.md).
    head = [f"root ::= t{first}-0", f'end ::= "{_clock(last)} ---\\n"']
    return Grammar("hour_plan", "\n".join([*head, *rules, *doing_rules(longest_action), ""]))


def parse_hour(text: str) -> tuple[PlannedAction, ...]:
    """Reads a text of ``hour_grammar``."""
    lines = [line.partition(" ") for line in _lines(text)]
    starts = [parse_clock(clock) for clock, _, _ in lines]
    return tuple(
        PlannedAction(start, (following - start) // MINUTE, action)
        for (_, _, action), start, following in zip(lines, starts, starts[1:], strict=False)
    )


def parse_object_state(text: str) -> str:
    """Reads a text of ``object_state.gbnf``."""
    return text.removesuffix("\n")


def _check_span(start: int, end: int, where: str) -> None:
    if not 0 <= start < end <= DAY or start % MINUTE or end % MINUTE:
        raise GrammarError("a span lies within one day, on whole minutes, its start before its end", where=where)


def _check_fixed(fixed: Sequence[PlannedChunk], wake: int, sleep: int, where: str) -> None:
    last = wake
    for chunk in fixed:
        if not last <= chunk.start < chunk.end <= sleep or chunk.start % MINUTE or chunk.end % MINUTE:
            raise GrammarError("fixed lines lie within the day, in order and apart", where=where)
        if "\n" in chunk.activity or ": " in chunk.activity:
            raise GrammarError(f"'{chunk.activity}' cannot be a line of a plan", where=where)
        last = chunk.end


def _either(texts: Iterable[str], where: str) -> str:
    texts = list(texts)
    if not texts or len(set(texts)) != len(texts):
        raise GrammarError("it needs at least one place, each once", where=where)
    return " | ".join(quote(text) for text in texts)


def _clock(minute: int) -> str:
    return format_clock(minute * MINUTE)


def _lines(text: str) -> list[str]:
    """Lines by "\\n" alone: a place's name may hold what ``splitlines`` takes for a line end."""
    return text.rstrip("\n").split("\n")
