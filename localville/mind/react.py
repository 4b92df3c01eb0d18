"""Reacting: whether to turn to what has come up, or to go on (paper §4.3.1).

    somebody is near            goes on · talks
    something is out of order   goes on · sees to it, and how
    the room to go to is full   waits · does something else

Each is a choice drawn from the options' probabilities, which are on record; there is no default. Before the choice to talk
stand the two retrievals of the paper: what one's relationship with the other is, and what one knows of what the other does.
"""

from __future__ import annotations

from collections.abc import Sequence

from localville.clock import MINUTE, nearby_days
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Part, Prompt, Write
from localville.llm.sentences import parse_response, response_grammar
from localville.mind.ground import choose_emoji, choose_sector, ground
from localville.mind.identity import short_description
from localville.mind.prompting import part, render
from localville.mind.thought import Action, Recall, Thought, View
from localville.world.places import Thing

GOES_ON, TALKS = " goes on", " talks"
SEES_TO_IT = " sees to it"
WAITS, OTHERWISE = " waits", " does something else"
WAITING_EMOJI = "⏳"
TEMPERATURE = 0.5


def wants_to_talk(view: View, other: str, doing: str) -> Thought[bool]:
    """Decides whether to begin a talk with somebody. ``doing``: the words that follow the other's name and "is"."""
    name = view.persona.name
    relation = yield Recall(f"{name}'s relationship with {other}", view.profile.retrieve_relation)
    status = yield Recall(f"{other} is {doing}", view.profile.retrieve_status)
    texts = dict.fromkeys(nearby_days(memory.text, view.now) for memory in (*relation, *status))
    situation = part(
        "situation",
        "react_ask",
        persona=view.persona,
        known=tuple(texts),
        other=other,
        doing=view.doing,
        other_doing=doing,
    )
    prompt = Prompt((Part("town", render("react")), short_description(view.persona, view.now), situation))
    answer = yield Ask("react", prompt, Choose((GOES_ON, TALKS), temperature=1.0))
    return bool(answer.value == TALKS)


def sees_to(view: View, thing: Thing, state: str) -> Thought[Action | None]:
    """Decides whether to see to an object that is out of order, and how; None: goes on with what it is doing.

    ``state``: the words that follow "is". What is done is done at the object, unless it names another place.
    """
    asked = part("situation", "trouble_ask", persona=view.persona, doing=view.doing, thing=thing.name, state=state)
    parts = (Part("town", render("trouble")), short_description(view.persona, view.now))
    answer = yield Ask("react.object", Prompt((*parts, asked)), Choose((GOES_ON, SEES_TO_IT), temperature=1.0))
    if answer.value == GOES_ON:
        return None
    grammar = response_grammar(view.profile.action_minutes)
    prompt = Prompt((*parts, Part("situation", f"{asked.text}{SEES_TO_IT}:")))
    answer = yield Ask("react.how", prompt, Write(grammar, budget(grammar), TEMPERATURE))
    text, minutes = parse_response(answer.value)
    start, end = view.now.seconds, view.now.seconds + minutes * MINUTE
    sector = yield from choose_sector(view, text, thing.address.sector)
    if sector != thing.address.sector:
        return (yield from ground(view, text, sector, start, end))
    return Action(start, end, text, thing.address, state, (yield from choose_emoji(text)))


def puts_right(view: View, text: str, thing: Thing, state: str) -> Thought[bool]:
    """Decides whether what was done about an object has brought it back to its idle state."""
    asked = part(
        "situation", "after_ask", persona=view.persona, text=text, thing=thing.name, state=state, idle=thing.idle_state
    )
    options = (f" {thing.idle_state}", f" still {state}")
    form = Choose(options, temperature=1.0, per_token=True)
    answer = yield Ask("react.after", Prompt((Part("town", render("after")), asked)), form)
    return bool(answer.value == options[0])


def waits(view: View, text: str, room: str, inside: Sequence[tuple[str, str]]) -> Thought[bool]:
    """Decides whether to wait for a room that is full, to do ``text`` there. ``inside``: names and what they are doing."""
    asked = part("situation", "full_ask", persona=view.persona, text=text, room=room, inside=inside)
    prompt = Prompt((Part("town", render("full")), short_description(view.persona, view.now), asked))
    answer = yield Ask("react.full", prompt, Choose((WAITS, OTHERWISE), temperature=1.0))
    return bool(answer.value == WAITS)
