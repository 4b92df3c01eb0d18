"""Reflection: from what happened lately to what it means (paper §4.2).

When the importance of new observations and chats adds up to the threshold, an agent asks itself the most salient questions
about its latest memories, retrieves for each, and draws insights that cite the statements they rest on. Insights are
memories; they are retrieved like others, so later ones can rest on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localville.llm.bounds import budget
from localville.llm.engine import Ask, Part, Prompt, Write
from localville.llm.sentences import insights_grammar, parse_insights, parse_questions, questions_grammar
from localville.memory.stream import Memory
from localville.mind.importance import rate
from localville.mind.prompting import part, render
from localville.mind.thought import Latest, Recall, Thought, View

TEMPERATURE = 0.5
PENALTY = 1.1


@dataclass(frozen=True, slots=True)
class Reflection:
    """One insight, with its importance and the ids of the memories it rests on."""

    text: str
    importance: int
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reflected:
    """What a reflection came to: the questions, and the insights from all of them, no text twice."""

    questions: tuple[str, ...]
    insights: tuple[Reflection, ...]


def reflect(view: View) -> Thought[Reflected]:
    """Asks the focal questions, retrieves for each and concludes."""
    profile = view.profile
    latest = yield Latest(profile.reflect_latest)
    questions = yield from focal_questions(view, latest)
    retrieved = []
    for question in questions:
        retrieved.append((yield Recall(question, profile.retrieve_reflection)))
    asks = tuple(
        _insights_ask(view, question, memories) for question, memories in zip(questions, retrieved, strict=True)
    )
    answers = yield asks
    known = {memory.text for memory in latest}
    insights = []
    for answer, memories in zip(answers, retrieved, strict=True):
        for insight in parse_insights(answer.value):
            if insight.text in known:
                continue
            known.add(insight.text)
            importance = yield from rate(insight.text, view.ways)
            evidence = tuple(sorted(memories[number - 1].id for number in insight.evidence))
            insights.append(Reflection(insight.text, importance, evidence))
    return Reflected(questions, tuple(insights))


def focal_questions(view: View, latest: Sequence[Memory]) -> Thought[tuple[str, ...]]:
    """The most salient questions about the latest memories, of which the most important are put before the model."""
    profile = view.profile
    shown = sorted(
        sorted(latest, key=lambda memory: (-memory.importance, -memory.id))[: profile.reflect_shown], key=_id
    )
    situation = part("situation", "questions_ask", persona=view.persona, lines=[memory.text for memory in shown])
    grammar = questions_grammar(profile.reflect_questions)
    form = Write(grammar, budget(grammar), TEMPERATURE, repetition_penalty=PENALTY)
    answer = yield Ask("reflect.questions", Prompt((Part("town", render("questions")), situation)), form)
    return parse_questions(answer.value)


def _insights_ask(view: View, question: str, memories: Sequence[Memory]) -> Ask:
    texts = [memory.text for memory in memories]
    people = [view.persona.name, *(name for name in view.people if name != view.persona.name)]
    subjects = [name for name in people if name == view.persona.name or any(name in text for text in texts)]
    situation = part("situation", "insights_ask", lines=texts, question=question)
    grammar = insights_grammar(subjects, len(texts), view.profile.reflect_insights)
    form = Write(grammar, budget(grammar), TEMPERATURE, repetition_penalty=PENALTY)
    return Ask("reflect.insights", Prompt((Part("town", render("insights")), situation)), form)


def _id(memory: Memory) -> int:
    return memory.id
