"""Phases 1 and 2 of a step: what everybody notices and does becomes memory (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from localville.clock import SimTime
from localville.config import Profile
from localville.memory.stream import MemoryKind
from localville.mind.importance import rate
from localville.sim.facts import StepFacts
from localville.sim.scheduler import Scheduler, Task
from localville.sim.town import AgentState, TownState
from localville.world.places import OUTDOORS_NAME
from localville.world.sight import Kind, Percept, fresh, perceive


def notice(state: TownState, profile: Profile) -> list[tuple[AgentState, str]]:
    """New observations of all agents, in id order: what each did itself, then what it noticed."""
    seen: list[tuple[AgentState, str]] = []
    others = {agent.name: (agent.tile, agent.activity()) for agent in state.agents}
    for agent in state.agents:
        seen += [(agent, text) for text in agent.to_remember]
        agent.to_remember = ()
        percepts = perceive(
            state.town,
            agent.name,
            agent.tile,
            others,
            {**state.object_states, **state.set_states},
            radius=profile.vision_radius_tiles,
            bandwidth=profile.attention_bandwidth,
            asleep=agent.asleep,
        )
        # Idle furniture is seen (it enters the place tree) but not remembered: docs/differences.md.
        news = [p for p in fresh(percepts, agent.recent, profile.retention) if not _own_doing(agent, p) and not p.idle]
        agent.recent = (*agent.recent, *(p.text for p in news))[-profile.retention :]
        objects = [p.address for p in percepts if p.kind is Kind.OBJECT]
        agent.tree = agent.tree.learn([p.address for p in percepts if p.address.sector != OUTDOORS_NAME])
        agent.tree = agent.tree.see({address: state.set_states.get(address) for address in objects})
        seen += [(agent, _in_words(p)) for p in news]
    return seen


def _own_doing(agent: AgentState, percept: Percept) -> bool:
    return percept.kind is Kind.OBJECT and agent.action is not None and percept.address == agent.action.address


def _in_words(percept: Percept) -> str:
    """The observation as a sentence that names its subject and, for an object, where it stands."""
    if percept.kind is Kind.PERSON:
        return percept.text
    return f"the {percept.subject} at {percept.address.sector} is {percept.text.partition(' is ')[2]}"


def remember(
    state: TownState,
    scheduler: Scheduler,
    profile: Profile,
    ways: Mapping[str, str],
    observations: list[tuple[AgentState, str]],
    facts: StepFacts,
) -> None:
    """Asks the importance of every text not rated before and appends the observations."""
    first: dict[str, AgentState] = {}
    for agent, text in observations:
        if text not in state.importance_known:
            first.setdefault(text, agent)
    tasks = [Task(agent, rate(text, ways), "remember") for text, agent in first.items()]
    facts.asks += scheduler.run(tasks, state.step, state.now)
    state.importance_known.update({text: task.result for text, task in zip(first, tasks, strict=True)})
    rated = [(agent, text, state.importance_known[text]) for agent, text in observations]
    append_memories(scheduler, state.now, MemoryKind.OBSERVATION, rated)


def append_memories(
    scheduler: Scheduler,
    at: SimTime,
    kind: MemoryKind,
    rated: list[tuple[AgentState, str, int]],
    people: Iterable[str] = (),
) -> None:
    """Appends memories to their streams and indexes, with one embedding call; what was observed before is reinforced."""
    if not rated:
        return
    vectors = scheduler.embedder.embed([text for _, text, _ in rated])
    for (agent, text, importance), vector in zip(rated, vectors, strict=True):
        known = agent.stream.observed(text) if kind is MemoryKind.OBSERVATION else None
        if known is not None:
            agent.stream.reinforce(known, at)
            continue
        memory = agent.stream.append(text, kind, at, importance, people=people)
        agent.index.add(memory.id, vector)
        if kind in (MemoryKind.OBSERVATION, MemoryKind.CHAT):
            agent.unreflected += importance
