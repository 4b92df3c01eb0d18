"""Meetings: who turns to whom, and what a talk does to the two (DESIGN §6).

A wish to talk is decided in one step, the talk itself is held in the next: both stay for it and decide nothing else. Who
wants to talk to somebody who is taken goes on; he may think of it again later.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from localville.clock import MINUTE
from localville.config import Profile
from localville.llm.grammars import PlannedAction
from localville.memory.stream import MemoryKind
from localville.mind.promise import Promise, with_appointment
from localville.mind.react import wants_to_talk
from localville.mind.talk import Talked, talk
from localville.mind.thought import Action
from localville.sim.act import goal_at
from localville.sim.due import view_of
from localville.sim.facts import Event, StepFacts
from localville.sim.notice import append_memories
from localville.sim.scheduler import Scheduler, Task
from localville.sim.town import AgentState, TownState

TALK, GLANCE = "talk", "glance"
TALK_EMOJI = "💬"


def talks(state: TownState, profile: Profile, ways: Mapping[str, str]) -> list[Task]:
    """The talks that were agreed in the step before, in the order in which they were."""
    tasks = []
    for names in state.talks:
        one, other = (state.agent(name) for name in names)
        thought = talk(view_of(state, one, profile, ways), view_of(state, other, profile, ways))
        tasks.append(Task(one, thought, TALK, {one.name: one, other.name: other}, other.name))
    return tasks


def glances(
    state: TownState, profile: Profile, ways: Mapping[str, str], taken: Collection[AgentState] = ()
) -> list[Task]:
    """For everybody who is free, the nearest one to whom they might turn, if there is one.

    ``taken``: whose attention is elsewhere.
    """
    tasks = []
    for agent in state.agents:
        if agent in taken:
            continue
        if other := _nearest(state, agent, profile):
            thought = wants_to_talk(view_of(state, agent, profile, ways), other.name, other.activity())
            tasks.append(Task(agent, thought, GLANCE, partner=other.name))
    return tasks


def meet(state: TownState, scheduler: Scheduler, profile: Profile, tasks: Sequence[Task], facts: StepFacts) -> None:
    """Applies what talks came to, then settles who will talk in the next step, in id order."""
    for task in tasks:
        if task.topic == TALK:
            _hold(state, scheduler, profile, task.agent, state.agent(task.partner), task.result, facts)
    state.talks = ()
    for task in tasks:
        if task.topic == GLANCE:
            task.agent.considered[task.partner] = state.now.seconds
            other = state.agent(task.partner)
            if task.result and not state.talks_with(task.agent.name) and _free(state, other):
                state.talks = (*state.talks, (task.agent.name, other.name))


def _nearest(state: TownState, agent: AgentState, profile: Profile) -> AgentState | None:
    if not _free(state, agent):
        return None
    now = state.now.seconds
    here, near = state.town.arena_at(agent.tile), []
    for number, other in enumerate(state.agents):
        distance = max(abs(other.tile.x - agent.tile.x), abs(other.tile.y - agent.tile.y))
        if other is agent or distance > profile.vision_radius_tiles or state.town.arena_at(other.tile) is not here:
            continue
        talked, thought = agent.talked.get(other.name), agent.considered.get(other.name)
        fresh = (talked is None or now >= talked + profile.talk_cooldown_minutes * MINUTE) and (
            thought is None or now >= thought + profile.react_again_minutes * MINUTE
        )
        if fresh and _free(state, other):
            near.append((distance, number, other))
    return min(near)[2] if near else None


def _free(state: TownState, agent: AgentState) -> bool:
    """Whether somebody is where he wants to be, in the middle of something that can wait, and in no talk."""
    action = agent.action
    if agent.asleep or agent.walking or agent.sees_to or action is None or state.talks_with(agent.name):
        return False
    return agent.talking_until <= state.now.seconds < action.end


def _hold(
    state: TownState,
    scheduler: Scheduler,
    profile: Profile,
    one: AgentState,
    other: AgentState,
    talked: Talked,
    facts: StepFacts,
) -> None:
    state.talk_count += 1
    facts.utterances += [(state.talk_count, turn, line) for turn, line in enumerate(talked.utterances, 1)]
    spoken = sum(len(line.text) for line in talked.utterances)
    end = state.now.seconds + max(1, math.ceil(spoken / profile.talk_characters_per_minute)) * MINUTE
    address, words = other.action.address, other.action.object_state  # type: ignore[union-attr]
    for agent, partner in ((one, other), (other, one)):
        _resume_later(state, agent, end)
        text = f"talking with {partner.name}"
        agent.action = Action(state.now.seconds, end, text, address, words, TALK_EMOJI)
        agent.waits_for = ""
        if agent is one:
            agent.goal = goal_at(state, agent, agent.action)
        agent.talking_until = agent.talked[partner.name] = end
        agent.done_today = (*agent.done_today, (state.now.second_of_day, text))
        facts.actions.append((agent.name, agent.action))
        facts.events.append(Event(agent.name, "talk", f"{agent.name} talks with {partner.name} about {talked.about}"))
        names = (one.name, other.name)
        rated = [(agent, sentence, importance) for sentence, importance in talked.told]
        append_memories(scheduler, state.now, MemoryKind.CHAT, rated, names)
    state.importance_known.update(dict(talked.told))
    for name, promise in talked.promises:
        _promise(state, state.agent(name), promise, facts)


def _resume_later(state: TownState, agent: AgentState, end: int) -> None:
    """What a talk interrupts goes on afterwards, as far as there is time left of it."""
    action = agent.action
    midnight = state.now.midnight.seconds
    if action is None or agent.waits_for or action.end <= end or action.end > midnight + 24 * 60 * MINUTE:
        return
    start = (action.start - midnight) // MINUTE * MINUTE
    left = PlannedAction(start, (action.end - midnight - start) // MINUTE, action.text)
    agent.planned = (left, *agent.planned)


def _promise(state: TownState, agent: AgentState, promise: Promise, facts: StepFacts) -> None:
    """Keeps a promise in mind; one for today changes the plan from its hour on."""
    agent.promises = (*agent.promises, promise)
    facts.promises.append((agent.name, promise))
    if promise.date != state.now.iso[:10]:
        return
    agent.day_plan = with_appointment(agent.day_plan, promise.chunk())
    facts.day_plans.append((agent.name, agent.day_plan))
    agent.hours = tuple(
        replace(hour, end=min(hour.end, promise.start)) for hour in agent.hours if hour.start < promise.start
    )
    agent.planned = tuple(action for action in agent.planned if action.start < promise.start)
