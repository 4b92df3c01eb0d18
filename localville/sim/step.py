"""One step, phase by phase (DESIGN §6): perceive, remember, think (and ask), act, move.

All agents think from the same snapshot; what they decide is applied afterwards in id order. The step returns what
happened as ``StepFacts``; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping

from localville.clock import SimTime
from localville.config import Profile
from localville.memory.stream import MemoryKind
from localville.mind.identity import PARTS, summarise
from localville.mind.reflect import reflect
from localville.sim.act import apply, conclude, plan_texts, set_objects, walk
from localville.sim.due import due, due_at, view_of
from localville.sim.facts import StepFacts
from localville.sim.meet import glances, meet, talks
from localville.sim.notice import append_memories, notice, remember
from localville.sim.scheduler import Scheduler, Task
from localville.sim.town import TownState
from localville.sim.trouble import see_to, troubles


def take_step(state: TownState, scheduler: Scheduler, profile: Profile, ways: Mapping[str, str]) -> StepFacts:
    """Lives one step of the town at ``state.now`` and returns what happened."""
    facts = StepFacts(state.step, state.now)
    before = {agent.name: agent.to_json() for agent in state.agents}
    observations = notice(state, profile)
    remember(state, scheduler, profile, ways, observations, facts)
    tasks = [Task(agent, thought, "act") for agent in state.agents if (thought := due(state, agent, profile, ways))]
    reflections = [
        Task(agent, reflect(view_of(state, agent, profile, ways)), "reflect")
        for agent in state.agents
        if not agent.asleep and agent.unreflected >= profile.reflect_threshold
    ]
    summaries = [
        Task(agent, summarise(view_of(state, agent, profile, ways)), "summary")
        for agent in state.agents
        if not agent.asleep and agent.summary_due
    ]
    alarmed = troubles(state, profile, ways)
    meetings = [*talks(state, profile, ways), *glances(state, profile, ways, [task.agent for task in alarmed])]
    facts.asks += scheduler.run([*tasks, *reflections, *summaries, *alarmed, *meetings], state.step, state.now)
    for task in tasks:
        apply(state, task.agent, task.result, facts)
    for task in summaries:
        task.agent.summary, task.agent.summary_due = task.result, False
        facts.summaries += [(task.agent.name, which, getattr(task.result, which)) for which in PARTS]
    for task in reflections:
        conclude(state, scheduler, task.agent, task.result, facts)
    see_to(state, alarmed, facts)
    meet(state, scheduler, profile, meetings, facts)
    plans = [(agent, text, profile.plan_importance) for agent, text in plan_texts(state, facts)]
    append_memories(scheduler, state.now, MemoryKind.PLAN, plans)
    walk(state, facts)
    set_objects(state, facts)
    facts.changed = [agent for agent in state.agents if agent.to_json() != before[agent.name]]
    return facts


def next_moment(state: TownState, facts: StepFacts, step_seconds: int) -> SimTime:
    """When the next step is: at once if anything moved or changed, else when the next thing is due, on the step grid."""
    soonest = state.now + step_seconds
    if (
        facts.changed
        or facts.states
        or state.talks
        or any(agent.walking or agent.to_remember for agent in state.agents)
    ):
        return soonest
    due = min((due_at(agent) for agent in state.agents), default=soonest.seconds)
    steps = max(1, -(-(due - state.now.seconds) // step_seconds))
    return state.now + steps * step_seconds
