"""Gathers what every thought wants to know, so that the engine and the embedder see all of it at once (DESIGN §6).

Thoughts of different agents read the same snapshot and never each other's results, so the order in which answers arrive
cannot matter: an answer resumes exactly its own thought. Seeds are named by agent, step, topic and purpose, which of
the agent's thoughts on that topic it is, and how often that thought has asked for that purpose.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from localville.chance import seed_for
from localville.clock import SimTime
from localville.config import Profile
from localville.llm.engine import Answer, Ask, Engine, Ticket
from localville.memory.embed import Embedder
from localville.memory.retrieval import retrieve
from localville.mind.thought import Compare, Latest, Recall, Request, Thought
from localville.sim.town import AgentState


@dataclass
class Task:
    """One agent's thought under way; ``result`` is set when it is done. ``topic`` tells it from others of the step."""

    agent: AgentState
    thought: Thought[Any]
    topic: str = ""
    minds: Mapping[str, AgentState] = field(default_factory=dict)
    """Whose memories it may recall beside the agent's own, by name."""
    partner: str = ""
    """Whom it is about, if it is about somebody."""
    result: Any = None
    done: bool = False


@dataclass(frozen=True)
class Asked:
    """One question as it was put and answered, for the record."""

    agent: str
    ask: Ask
    seed: int
    answer: Answer


class Scheduler:
    """Runs thoughts to their end and keeps account of what they asked."""

    def __init__(self, engine: Engine, embedder: Embedder, profile: Profile, run_seed: int) -> None:
        self.engine, self.embedder, self.profile, self.run_seed = engine, embedder, profile, run_seed
        self.on_answer: Callable[[Asked], None] = lambda asked: None

    def run(self, tasks: Sequence[Task], step: int, now: SimTime) -> list[Asked]:
        """Serves the tasks until all are done and returns what was asked, in an order that depends on the tasks alone.

        Memories recalled are touched (their last access becomes ``now``) only after all thoughts have ended, in task
        order, so that no thought sees another's retrieval.
        """
        ordinals: Counter[tuple[int, str]] = Counter()
        # Counted by thought, not by agent: of two thoughts of one agent either may be answered first.
        names = [(task.agent.name, task.topic) for task in tasks]
        nth = [names[:number].count(name) for number, name in enumerate(names)]
        asked: dict[tuple[int, int], Asked] = {}
        recalled: list[tuple[AgentState, tuple[int, ...]]] = []
        waiting: dict[Ticket, tuple[int, Ask, int, int]] = {}
        groups: dict[int, dict[int, Answer | None]] = {}
        """Of thoughts that put several questions at once: the answers so far, by count."""
        counts = [0] * len(tasks)
        resume: list[tuple[int, Any]] = [(number, None) for number in range(len(tasks))]
        while resume or waiting:
            lookups: list[tuple[int, Recall | Latest | Compare]] = []
            for number, value in sorted(resume, key=lambda item: item[0]):
                request = self._advance(tasks[number], value)
                if isinstance(request, Recall | Latest | Compare):
                    lookups.append((number, request))
                    continue
                asks = () if request is None else request if isinstance(request, tuple) else (request,)
                if isinstance(request, tuple):
                    groups[number] = dict.fromkeys(range(counts[number], counts[number] + len(asks)))
                for ask in asks:
                    name, topic = names[number]
                    ordinal = ordinals[number, ask.purpose]
                    ordinals[number, ask.purpose] += 1
                    seed = seed_for(self.run_seed, name, step, topic, ask.purpose, nth[number], ordinal)
                    waiting[self.engine.submit(ask, seed)] = (number, ask, seed, counts[number])
                    counts[number] += 1
            resume = self._look_up(tasks, lookups, now, recalled) if lookups else []
            if resume or not waiting:
                continue
            for ticket, answer in self.engine.poll():
                number, ask, seed, count = waiting.pop(ticket)
                asked[number, count] = Asked(tasks[number].agent.name, ask, seed, answer)
                self.on_answer(asked[number, count])
                if number not in groups:
                    resume.append((number, answer))
                    continue
                groups[number][count] = answer
                if None not in groups[number].values():
                    resume.append((number, tuple(groups.pop(number).values())))
        for agent, ids in recalled:
            agent.stream.touch(ids, now)
        return [asked[key] for key in sorted(asked)]

    @staticmethod
    def _advance(task: Task, value: Any) -> Request | None:
        try:
            return task.thought.send(value)
        except StopIteration as stop:
            task.result, task.done = stop.value, True
            return None

    def _look_up(
        self,
        tasks: Sequence[Task],
        lookups: list[tuple[int, Recall | Latest | Compare]],
        now: SimTime,
        recalled: list[tuple[AgentState, tuple[int, ...]]],
    ) -> list[tuple[int, Any]]:
        """Answers recalls and comparisons with one embedding call for all of them."""
        texts: list[str] = []
        for _, request in lookups:
            if isinstance(request, Recall):
                texts.append(request.query)
            elif isinstance(request, Compare):
                texts += [request.text, *request.others]
        distinct = list(dict.fromkeys(texts))
        vectors = dict(zip(distinct, self.embedder.embed(distinct), strict=True))
        results: list[tuple[int, Any]] = []
        for number, request in lookups:
            if isinstance(request, Compare):
                mine = vectors[request.text]
                results.append((number, tuple(float(mine @ vectors[other]) for other in request.others)))
                continue
            agent = tasks[number].agent
            if isinstance(request, Recall) and request.agent:
                agent = tasks[number].minds[request.agent]
            if isinstance(request, Latest):
                results.append((number, tuple(agent.stream.latest(request.n))))
                continue
            best = retrieve(agent.stream, agent.index, vectors[request.query], now, request.k, self.profile)
            recalled.append((agent, tuple(scored.memory.id for scored in best)))
            results.append((number, tuple(scored.memory for scored in best)))
        return results


def form_key(ask: Ask) -> str:
    """How an ask's form reads in the record: its kind and its options or grammar."""
    form = ask.form
    kind = type(form).__name__
    if hasattr(form, "options"):
        return json.dumps({"kind": kind, "options": form.options}, ensure_ascii=False)
    if hasattr(form, "grammar"):
        return json.dumps({"kind": kind, "grammar": form.grammar.name, "key": form.grammar.key})
    return json.dumps({"kind": kind})
