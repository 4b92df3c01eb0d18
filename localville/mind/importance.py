"""Importance: how poignant a memory is, from 1 (mundane) to 10 (paper §4.1).

Two ways of asking, by the model's measured profile (models/catalog.toml):

    continue   a list of rated events is continued; the expectation over 1..10, minus a content-free event's
    channel    log P(event | an unforgettable moment) - log P(event | boring routine), mapped by the paper's anchors
"""

from __future__ import annotations

from collections.abc import Mapping

from localville.llm.engine import Ask, Part, Prompt, Rate
from localville.mind.prompting import render
from localville.mind.thought import Thought

PURPOSE = "importance"

ANCHORS = (
    ("brushing teeth", 1),
    ("making the bed", 1),
    ("cleaning up the room", 2),
    ("asking a crush out on a date", 8),
    ("a break-up", 10),
    ("a college acceptance", 10),
)
"""Events with the paper's ratings (§4.1: the ends of the scale in its prompt, 2 and 8 in its examples)."""

DULL = ("Boring routine: ", "An ordinary moment nobody remembers: ", "Every single day: ")
VIVID = ("An unforgettable moment: ", "A turning point in life: ", "News that changes everything: ")


def importance_ask(text: str, ways: Mapping[str, str]) -> Ask:
    """The question for one memory text. The same text makes the same ask, so answers can be kept by text."""
    if ways.get(PURPOSE) == "channel":
        prompt = Prompt((Part("situation", text),))
        return Ask(PURPOSE, prompt, Rate(dull=DULL, vivid=VIVID, anchors=ANCHORS))
    examples = Part("task", render("importance"))
    blank = Prompt((examples, Part("situation", "Event: something\nImportance: ")))
    prompt = Prompt((examples, Part("situation", f"Event: {text}\nImportance: ")))
    return Ask(PURPOSE, prompt, Rate(baseline=blank))


def rate(text: str, ways: Mapping[str, str]) -> Thought[int]:
    """Rates one memory text."""
    answer = yield importance_ask(text, ways)
    return int(answer.value)
