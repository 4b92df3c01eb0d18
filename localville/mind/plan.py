"""Plans, top-down and just in time (paper §4.3): the hour of waking, the day in broad strokes, hours, actions.

A part of the day is split into hours when it begins, an hour into actions when it begins. What must hold is the grammar's
business and cannot be missed by a model: a day plan covers the waking day without gap or overlap, an hour's actions of 5 to
15 minutes fill it exactly. Sleep frames the day; it is never left to a plan.
"""

from __future__ import annotations

import math
from dataclasses import replace

from localville.clock import DAY, HOUR, MINUTE, format_clock, nearby_days, parse_clock
from localville.config import Persona
from localville.errors import PersonaError
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Part, Prompt, Write
from localville.llm.grammars import (
    PlannedAction,
    PlannedChunk,
    day_plan_grammar,
    hour_grammar,
    hours_grammar,
    hours_of,
    parse_day_plan,
    parse_hour,
    parse_hours,
)
from localville.mind.drafts import best_draft
from localville.mind.identity import description, short_description
from localville.mind.promise import appointments
from localville.mind.prompting import part, render
from localville.mind.thought import Recall, Thought, View
from localville.world.places import Address, Town
from localville.world.residents import bed_of

SLEEPING = "sleeping"
WAKE_STEP = 30 * MINUTE
WAKE_STEPS = 3
"""Waking is chosen among the habit and three half hours before and after it."""
WAKE_SPREAD = 0.75
"""In half hours: how far a habit lets waking stray; ours (the original asks for an hour without a habit)."""
SHORTEST_DAY = 4 * HOUR
"""A waking day must hold five chunks of half an hour and a night must follow it."""
SHORTEST_CHUNK = 30 * MINUTE
"""What must be left of a day to plan it at all."""
GRAIN = 5 * MINUTE
"""Plans and actions begin and end on these, as the shortest action does (paper §4.3)."""

LINES_SHOWN = 8
"""Latest actions of the same hour put before the model; an hour has four to twelve."""
SAID_BEFORE = 6
"""Latest actions whose words are less likely to be used again: about an hour's; ours."""
LINES_BEFORE = 2
"""Latest actions of the hour before; more are copied."""
DAY_TEMPERATURE = 0.5
HOUR_TEMPERATURE = 0.6
"""Free text tried by hand at 0.5 to 0.7 (ENGINE §5)."""


def bed_time(persona: Persona) -> int:
    """When a persona goes to bed, in seconds of the day, on five minutes; a time after midnight counts as midnight."""
    wake, sleep = parse_clock(persona.wake), parse_clock(persona.sleep)
    return sleep - sleep % GRAIN if sleep > wake else DAY


def check_day(persona: Persona) -> None:
    """Raises PersonaError when a persona's waking day cannot hold a plan."""
    latest = parse_clock(persona.wake) + WAKE_STEPS * WAKE_STEP
    if bed_time(persona) - latest < SHORTEST_DAY:
        raise PersonaError(
            f"the day from wake {persona.wake} to sleep {persona.sleep} is too short to plan",
            where=f"persona '{persona.name}'",
            next=f"Leave at least {(SHORTEST_DAY + WAKE_STEPS * WAKE_STEP) / HOUR:g} hours between them",
        )


def wake_hour(view: View) -> Thought[int]:
    """Decides when to get up today, in seconds of the day, near the persona's habit."""
    habit = parse_clock(view.persona.wake)
    times = [habit + step * WAKE_STEP for step in range(-WAKE_STEPS, WAKE_STEPS + 1)]
    bed = bed_time(view.persona)
    first = 0 if bed < DAY else WAKE_STEP  # who goes to bed at midnight does not get up then
    times = [at for at in times if first <= at < bed - SHORTEST_DAY]
    prior = tuple(-0.5 * ((at - habit) / WAKE_STEP / WAKE_SPREAD) ** 2 for at in times)
    situation = part("situation", "wake_ask", persona=view.persona, date=view.now.date_words)
    options = tuple(" " + format_clock(at) for at in times)
    ask = Ask(
        "wake",
        Prompt((description(view.persona, view.now, view.summary), situation)),
        Choose(options, temperature=1.0, prior=prior),
    )
    answer = yield ask
    return times[options.index(answer.value)]


def day_plan(view: View, yesterday: str = "") -> Thought[tuple[PlannedChunk, ...]]:
    """Plans the day from now to bed time in broad strokes: 5 to 8 chunks, each with one of the known places.

    ``yesterday``: what the day before was about, in a sentence; empty on the first day.
    """
    persona = view.persona
    start = view.now.second_of_day - view.now.second_of_day % GRAIN
    end = bed_time(persona)
    remembered = yield Recall(f"{persona.name}'s plans for {view.now.date_words}", view.profile.retrieve_plan)
    places = view.tree.sectors()
    prompt = Prompt(
        (
            Part("town", render("day_example")),
            description(persona, view.now, view.summary),
            part("persona", "day", places=places),
            part(
                "situation",
                "day_ask",
                persona=persona,
                memories=[nearby_days(memory.text, view.now) for memory in remembered],
                yesterday=yesterday,
                date=view.now.date_words,
            ),
        )
    )
    fixed = appointments(view.promises, view.now, start, end)
    free = end - start - sum(chunk.end - chunk.start for chunk in fixed)
    # A late start leaves less than the paper's five chunks; no chunk is shorter than half an hour, and a line that is
    # fixed cuts another in two.
    fewest = max(1, min(view.profile.plan_chunks_min, free // (2 * HOUR)))
    most = max(view.profile.plan_chunks_max, math.ceil((end - start) / (4 * HOUR))) + 2 * len(fixed)
    home = bed_of(view.town, persona.home, persona.name).address.sector
    grammar = day_plan_grammar(start, end, places, first_place=home, fixed=fixed, min_chunks=fewest, max_chunks=most)
    form = Write(grammar, budget(grammar), DAY_TEMPERATURE, repetition_penalty=1.05)
    answers = yield (Ask("plan.day", prompt, form),) * view.profile.plan_drafts
    drafts = [parse_day_plan(answer.value) for answer in answers]
    return (yield from best_draft(drafts, persona, places, home, opening_hours(view.town, persona)))


def opening_hours(town: Town, persona: Persona) -> dict[str, tuple[int, int]]:
    """From when to when places are open to a person, in seconds of the day: those that have hours and close the same day.

    One's own workplace is always open.
    """
    hours = {}
    work = Address.parse(persona.workplace).sector if persona.workplace else ""
    for sector in town.sectors:
        spans = [arena.hours for arena in sector.arenas if arena.hours is not None]
        if spans and sector.name != work and all(first < last for first, last in spans):
            hours[sector.name] = (min(first for first, _ in spans), max(last for _, last in spans))
    return hours


def chunk_at(plan: tuple[PlannedChunk, ...], second_of_day: int) -> PlannedChunk | None:
    """The part of a plan that holds a moment; None before it begins and after it ends."""
    return next((chunk for chunk in plan if chunk.start <= second_of_day < chunk.end), None)


def next_hours(view: View) -> Thought[tuple[PlannedChunk, ...]]:
    """Splits what is left of this part of the day into hours; one of an hour or little more stays as it is."""
    persona, second = view.persona, view.now.second_of_day
    start = second - second % GRAIN
    chunk = chunk_at(view.day_plan, start)
    if chunk is None:
        raise ValueError(f"{persona.name} has no plan at {view.now.hhmm}")
    if len(hours_of(start, chunk.end)) == 1:
        return (replace(chunk, start=start),)
    prompt = Prompt(
        (
            Part("town", render("hours_example")),
            short_description(persona, view.now),
            part(
                "situation",
                "hours_ask",
                persona=persona,
                start=format_clock(start),
                end=format_clock(chunk.end),
                place=chunk.place,
                activity=chunk.activity,
            ),
        )
    )
    grammar = hours_grammar(start, chunk.end)
    answer = yield Ask("plan.hours", prompt, Write(grammar, budget(grammar), HOUR_TEMPERATURE, repetition_penalty=1.1))
    return parse_hours(answer.value, chunk.place)


def next_actions(view: View) -> Thought[tuple[PlannedAction, ...]]:
    """Splits the time from now to the end of this hour into actions of 5 to 15 minutes.

    The prompt holds this hour of the plan alone: shown the habits or the whole day, a 1.5B model opens the cafe over
    breakfast (docs/log.md).
    """
    persona, second = view.persona, view.now.second_of_day
    start = second - second % GRAIN
    chunk = chunk_at(view.hours, start)
    if chunk is None:
        raise ValueError(f"{persona.name} has no hour planned at {view.now.hhmm}")
    # Behind what it has done of this hour the model goes on; told of it only in words, it gets out of bed again.
    lines = [f"{format_clock(at)} {text}" for at, text in view.done_today if at >= chunk.start]
    before = [(at, f"{format_clock(at)} {text}") for at, text in view.done_today if at < chunk.start][-LINES_BEFORE:]
    came_from = chunk_at(view.day_plan, before[-1][0]) if before else None
    prompt = Prompt(
        (
            Part("town", render("hour_example", waking=not view.done_today)),
            short_description(persona, view.now),
            part(
                "situation",
                "hour_ask",
                persona=persona,
                before=[line for _, line in before] if came_from else [],
                before_place=came_from.place if came_from else "",
                lines=lines[-LINES_SHOWN:],
                start=format_clock(chunk.start),
                end=format_clock(chunk.end),
                place=chunk.place,
                activity=chunk.activity,
            ),
        )
    )
    lengths = view.profile.action_minutes
    most = math.ceil((chunk.end - start) / max(HOUR / view.profile.actions_per_hour, min(lengths) * MINUTE))
    grammar = hour_grammar(start, chunk.end, lengths=lengths, most_actions=most)
    # Without it a 1.5B that has compared two formulas goes on to compare them until noon.
    said = tuple(text for _, text in view.done_today[-SAID_BEFORE:])
    form = Write(grammar, budget(grammar), HOUR_TEMPERATURE, repetition_penalty=1.1, said=said)
    answer = yield Ask("plan.hour", prompt, form)
    return parse_hour(answer.value)
