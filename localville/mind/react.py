"""Reacting: whether to turn to somebody who is near, or to go on (paper §4.3.1).

The two retrievals of the paper stand before the choice: what one's relationship with the other is, and what one knows of
what the other is doing. The choice is drawn from the options' probabilities, which are on record; there is no default.
"""

from __future__ import annotations

from localville.clock import nearby_days
from localville.llm.engine import Ask, Choose, Part, Prompt
from localville.mind.identity import short_description
from localville.mind.prompting import part, render
from localville.mind.thought import Recall, Thought, View

GOES_ON, TALKS = " goes on", " talks"


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
