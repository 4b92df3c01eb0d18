"""Reacting: whether to turn to what has come up, or to go on (paper §4.3.1).

    somebody is near            goes on · talks
    something is out of order   goes on · sees to it, and how
    the room to go to is full   waits · does something else

Each is a choice drawn from the options' probabilities, which are on record; there is no default. Before the choice to talk
stand the two retrievals of the paper: what one's relationship with the other is, and what one knows of what the other does.
The questions are put behind answered ones and want a yes or no: so a 1.5B tells 6 emergencies from 6 ordinary sights and 6
friends from 6 strangers or busy people, told by eye; as a story that goes on it did not (docs/log.md).
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

NO, YES = " no", " yes"
WAITS, OTHERWISE = " waits", " does something else"
WAITING_EMOJI = "⏳"
TEMPERATURE = 0.5
SURE = 0.25
"""Temperature of the choices about things: what is likelier than not is nearly sure. Ours."""
INCLINED = 0.5
"""Temperature of the choice to talk: people differ from day to day, strangers don't become friends by chance. Ours."""


def wants_to_talk(view: View, other: str, doing: str) -> Thought[bool]:
    """Decides whether to begin a talk with somebody. ``doing``: the words that follow the other's name and "is"."""
    known = yield from known_of(view, other, view.profile.retrieve_relation)
    status = yield Recall(f"{other} is {doing}", view.profile.retrieve_status)
    told = [nearby_days(memory.text, view.now) for memory in status if other in memory.text]
    texts = tuple(dict.fromkeys([*known, *(text for text in told if not _only_seen(text, other))]))
    situation = part(
        "situation",
        "react_ask",
        persona=view.persona,
        known=texts,
        other=other,
        doing=view.doing,
        other_doing=doing,
    )
    prompt = Prompt((Part("town", render("react")), situation))
    answer = yield Ask("react", prompt, Choose((NO, YES), temperature=INCLINED))
    return bool(answer.value == YES)


def known_of(view: View, other: str, k: int, mind: str = "") -> Thought[list[str]]:
    """What somebody knows of another: what is retrieved for their relationship and names the other; else, that it is nobody
    known. To have seen somebody do something is not to know them.
    """
    name = view.persona.name
    memories = yield Recall(f"{name}'s relationship with {other}", k, mind)
    texts = [nearby_days(memory.text, view.now) for memory in memories if other in memory.text]
    texts = list(dict.fromkeys(text for text in texts if not _only_seen(text, other)))
    return texts or [f"{name} does not know {other}"]


def _only_seen(text: str, other: str) -> bool:
    """Whether a memory is no more than that one has seen somebody do something: "Tom Moreno is walking"."""
    rest = text.removeprefix(f"{other} is ")
    return rest != text and (rest.split(maxsplit=1)[0].endswith("ing") or rest.startswith("on the way"))


def sees_to(view: View, thing: Thing, state: str) -> Thought[Action | None]:
    """Decides whether to see to an object that is out of order, and how; None: goes on with what it is doing.

    ``state``: the words that follow "is". What is done is done at the object, unless it names another place.
    """
    asked = part("situation", "needs_ask", thing=thing.name, state=state)
    form = Choose((NO, YES), temperature=SURE)
    answer = yield Ask("react.object", Prompt((Part("town", render("needs")), asked)), form)
    if answer.value == NO:
        return None
    how = part("situation", "trouble_ask", persona=view.persona, doing=view.doing, thing=thing.name, state=state)
    prompt = Prompt((Part("town", render("trouble")), short_description(view.persona, view.now), how))
    grammar = response_grammar(view.profile.action_minutes)
    answer = yield Ask("react.how", prompt, Write(grammar, budget(grammar), TEMPERATURE))
    text, minutes = parse_response(answer.value)
    start, end = view.now.seconds, view.now.seconds + minutes * MINUTE
    sector = yield from choose_sector(view, text, thing.address.sector)
    if sector != thing.address.sector:
        return (yield from ground(view, text, sector, start, end))
    return Action(start, end, text, thing.address, state, (yield from choose_emoji(text)))


def puts_right(view: View, text: str, thing: Thing, state: str) -> Thought[bool]:
    """Decides whether what was done about an object has brought it back to its idle state."""
    asked = part("situation", "helps_ask", persona=view.persona, text=text, thing=thing.name, state=state)
    form = Choose((NO, YES), temperature=SURE)
    answer = yield Ask("react.helps", Prompt((Part("town", render("helps")), asked)), form)
    return bool(answer.value == YES)


def waits(view: View, text: str, room: str, inside: Sequence[tuple[str, str]]) -> Thought[bool]:
    """Decides whether to wait for a room that is full, to do ``text`` there. ``inside``: names and what they are doing."""
    asked = part("situation", "full_ask", persona=view.persona, text=text, room=room, inside=inside)
    prompt = Prompt((Part("town", render("full")), short_description(view.persona, view.now), asked))
    answer = yield Ask("react.full", prompt, Choose((WAITS, OTHERWISE), temperature=1.0))
    return bool(answer.value == WAITS)
