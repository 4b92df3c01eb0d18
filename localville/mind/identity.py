"""Who somebody is: the description that leads an agent's asks (paper §4.3.2 and appendix A).

It begins as the persona file has it and grows with what the agent makes of its own memories: three summaries, each written
from a retrieval (core characteristics, current occupation, feeling about recent progress). They are kept until the agent
has reflected or slept, so that they are a stable prefix of its asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from localville.clock import SimTime, nearby_days
from localville.config import Persona
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Part, Prompt, Write
from localville.llm.sentences import summary_grammar
from localville.mind.prompting import part, render
from localville.mind.thought import Latest, Recall, Summary, Thought, View

TEMPERATURE = 0.5
PENALTY = 1.1
DAY_SHOWN = 10
"""Memories of a day put before its summary, the most important; ours."""
DAY_LATEST = 100


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the three: what is recalled for it, what is asked, and how the answer begins."""

    query: str
    question: str
    opening: str


PARTS = {
    "core": _Part("{name}'s core characteristics", "What is {name} like?", "{name} is"),
    "occupation": _Part(
        "{name}'s current daily occupation", "What does {name} do these days?", "{name} spends the days"
    ),
    "progress": _Part(
        "{name}'s feeling about recent progress in life",
        "How does {name} feel about how things are going?",
        "{name} feels",
    ),
}
"""Queries: paper, appendix A."""


def description(persona: Persona, now: SimTime, summary: Summary | None = None) -> Part:
    """The persona as a prompt part: name, age, traits, habits, present concern, and the agent's own summary if any."""
    concern = nearby_days(persona.concern, now)
    return part("persona", "persona", persona=persona, concern=concern, summary=summary)


def short_description(persona: Persona, now: SimTime) -> Part:
    """Name, age, occupation and present concern, for questions about one part of the day."""
    return part("persona", "persona_short", persona=persona, concern=nearby_days(persona.concern, now))


def summarise(view: View) -> Thought[Summary]:
    """Makes the three summaries anew, each from its own retrieval."""
    asks = []
    for which in PARTS.values():
        query, question, opening = (
            text.format(name=view.persona.name) for text in (which.query, which.question, which.opening)
        )
        memories = yield Recall(query, view.profile.retrieve_summary)
        lines = [nearby_days(memory.text, view.now) for memory in memories]
        asks.append(_sentence("summary", "summary", lines, question, opening))
    answers = yield tuple(asks)
    return Summary(*(answer.value.rstrip("\n") for answer in answers))


def summarise_day(view: View) -> Thought[str]:
    """Says in a sentence what the day that is over was about, from its most important memories."""
    latest = yield Latest(DAY_LATEST)
    today = [memory for memory in latest if memory.created >= view.now.midnight + -24 * 3600]
    shown = sorted(sorted(today, key=lambda memory: (-memory.importance, -memory.id))[:DAY_SHOWN], key=lambda m: m.id)
    name = view.persona.name
    lines = [memory.text for memory in shown]
    answer = yield _sentence("summary.day", "summary_day", lines, f"What did {name} do yesterday?", f"Yesterday {name}")
    return str(answer.value.rstrip("\n"))


def _sentence(purpose: str, example: str, lines: list[str], question: str, opening: str) -> Ask:
    situation = part("situation", "summary_ask", lines=lines, question=question)
    grammar = summary_grammar(opening)
    form = Write(grammar, budget(grammar), TEMPERATURE, repetition_penalty=PENALTY)
    return Ask(purpose, Prompt((Part("town", render(example)), situation)), form)
