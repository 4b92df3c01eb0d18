"""One step, phase by phase (DESIGN §6): perceive, remember, think (and ask), act, move.

All agents think from the same snapshot; what they decide is applied afterwards in id order. The step returns what
happened as ``StepFacts``; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from localville.clock import DAY, MINUTE, SimTime
from localville.config import Profile
from localville.llm.grammars import PlannedAction, PlannedChunk
from localville.memory.stream import MemoryKind
from localville.mind.ground import asleep, ground
from localville.mind.identity import PARTS, summarise, summarise_day
from localville.mind.importance import rate
from localville.mind.plan import (
    GRAIN,
    SHORTEST_CHUNK,
    SLEEPING,
    bed_time,
    chunk_at,
    day_plan,
    next_actions,
    next_hours,
    wake_hour,
)
from localville.mind.reflect import Reflected, reflect
from localville.mind.thought import Action, Thought, View
from localville.sim.scheduler import Asked, Scheduler, Task
from localville.sim.town import AgentState, TownState
from localville.world.grid import Tile
from localville.world.places import OUTDOORS_NAME
from localville.world.sight import Kind, Percept, fresh, perceive


class Event(NamedTuple):
    """One thing that happened: ``kind`` is wake, act, arrive, sleep, reflect."""

    agent: str
    kind: str
    text: str


@dataclass
class StepFacts:
    """Collects what one step changed, for the record."""

    number: int
    at: SimTime
    events: list[Event] = field(default_factory=list)
    asks: list[Asked] = field(default_factory=list)
    day_plans: list[tuple[str, tuple[PlannedChunk, ...]]] = field(default_factory=list)
    hours: list[tuple[str, tuple[PlannedChunk, ...]]] = field(default_factory=list)
    summaries: list[tuple[str, str, str]] = field(default_factory=list)
    """Agent, which part, sentence."""
    questions: list[tuple[str, str]] = field(default_factory=list)
    """Agent and focal question."""
    actions: list[tuple[str, Action]] = field(default_factory=list)
    moved: list[tuple[str, Tile]] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """Object address → new state."""
    changed: list[AgentState] = field(default_factory=list)
    """Agents whose checkpoint differs from the step before."""


class Decision(NamedTuple):
    """What a thought decided; None where it left things as they are."""

    wake_at: int | None = None
    wakes: bool = False
    yesterday: str = ""
    day_plan: tuple[PlannedChunk, ...] | None = None
    hours: tuple[PlannedChunk, ...] | None = None
    planned: tuple[PlannedAction, ...] | None = None
    action: Action | None = None


def take_step(state: TownState, scheduler: Scheduler, profile: Profile, ways: Mapping[str, str]) -> StepFacts:
    """Lives one step of the town at ``state.now`` and returns what happened."""
    facts = StepFacts(state.step, state.now)
    before = {agent.name: agent.to_json() for agent in state.agents}
    observations = _perceive(state, profile)
    _remember(state, scheduler, profile, ways, observations, facts)
    tasks = [Task(agent, thought, "act") for agent in state.agents if (thought := _due(state, agent, profile, ways))]
    reflections = [
        Task(agent, reflect(_view(state, agent, profile, ways)), "reflect")
        for agent in state.agents
        if not agent.asleep and agent.unreflected >= profile.reflect_threshold
    ]
    summaries = [
        Task(agent, summarise(_view(state, agent, profile, ways)), "summary")
        for agent in state.agents
        if not agent.asleep and agent.summary_due
    ]
    facts.asks += scheduler.run([*tasks, *reflections, *summaries], state.step, state.now)
    for task in tasks:
        _apply(state, task.agent, task.result, facts)
    for task in summaries:
        task.agent.summary, task.agent.summary_due = task.result, False
        facts.summaries += [(task.agent.name, which, getattr(task.result, which)) for which in PARTS]
    for task in reflections:
        _conclude(state, scheduler, task.agent, task.result, facts)
    plans = [(agent, text, profile.plan_importance) for agent, text in _plan_texts(state, facts)]
    append_memories(scheduler, state.now, MemoryKind.PLAN, plans)
    _walk(state, facts)
    _set_objects(state, facts)
    facts.changed = [agent for agent in state.agents if agent.to_json() != before[agent.name]]
    return facts


def next_moment(state: TownState, facts: StepFacts, step_seconds: int) -> SimTime:
    """When the next step is: at once if anything moved or changed, else when the next thing is due, on the step grid."""
    soonest = state.now + step_seconds
    if facts.changed or any(agent.walking or agent.to_remember for agent in state.agents):
        return soonest
    due = min((_due_at(agent) for agent in state.agents), default=soonest.seconds)
    steps = max(1, -(-(due - state.now.seconds) // step_seconds))
    return state.now + steps * step_seconds


# ---- 1 perceive, 2 remember ------------------------------------------------------------------------------------------


def _perceive(state: TownState, profile: Profile) -> list[tuple[AgentState, str]]:
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
            state.object_states,
            radius=profile.vision_radius_tiles,
            bandwidth=profile.attention_bandwidth,
            asleep=agent.asleep,
        )
        # Idle furniture is seen (it enters the place tree) but not remembered: docs/differences.md.
        news = [p for p in fresh(percepts, agent.recent, profile.retention) if not _own_doing(agent, p) and not p.idle]
        agent.recent = (*agent.recent, *(p.text for p in news))[-profile.retention :]
        agent.tree = agent.tree.learn([p.address for p in percepts if p.address.sector != OUTDOORS_NAME])
        seen += [(agent, _in_words(p)) for p in news]
    return seen


def _own_doing(agent: AgentState, percept: Percept) -> bool:
    return percept.kind is Kind.OBJECT and agent.action is not None and percept.address == agent.action.address


def _in_words(percept: Percept) -> str:
    """The observation as a sentence that names its subject and, for an object, where it stands."""
    if percept.kind is Kind.PERSON:
        return percept.text
    return f"the {percept.subject} at {percept.address.sector} is {percept.text.partition(' is ')[2]}"


def _remember(
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
    scheduler: Scheduler, at: SimTime, kind: MemoryKind, rated: list[tuple[AgentState, str, int]]
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
        memory = agent.stream.append(text, kind, at, importance)
        agent.index.add(memory.id, vector)
        if kind in (MemoryKind.OBSERVATION, MemoryKind.CHAT):
            agent.unreflected += importance


# ---- 3 think ---------------------------------------------------------------------------------------------------------


def _due(state: TownState, agent: AgentState, profile: Profile, ways: Mapping[str, str]) -> Thought[Decision] | None:
    """The thought that is due for an agent now, if any."""
    now = state.now.seconds
    view = _view(state, agent, profile, ways)
    if agent.asleep:
        if agent.wake_at is None:
            return _decide_waking(view)
        return _get_up(view) if now >= agent.wake_at else None
    if agent.action is None or now >= agent.action.end:
        return _go_on(view, agent.planned)
    return None


def _view(state: TownState, agent: AgentState, profile: Profile, ways: Mapping[str, str]) -> View:
    return View(
        persona=agent.persona,
        now=state.now,
        town=state.town,
        tree=agent.tree,
        at=state.town.where(agent.tile),
        profile=profile,
        ways=ways,
        people=tuple(other.name for other in state.agents),
        summary=agent.summary,
        promises=agent.promises,
        day_plan=agent.day_plan,
        hours=agent.hours,
        done_today=agent.done_today,
    )


def _due_at(agent: AgentState) -> int:
    """Game seconds at which an agent next has something to decide."""
    if agent.asleep:
        return 0 if agent.wake_at is None else agent.wake_at
    return 0 if agent.action is None else agent.action.end


def _decide_waking(view: View) -> Thought[Decision]:
    """Settles when a sleeper gets up; one that should be up already gets up at once."""
    too_late = view.now.second_of_day > bed_time(view.persona) - SHORTEST_CHUNK
    night = _tomorrow(view) if too_late else view
    second = yield from wake_hour(night)
    wake_at = night.now.at(second).seconds
    if wake_at <= view.now.seconds:
        return (yield from _get_up(view))
    return Decision(wake_at=wake_at, action=asleep(view, view.now.seconds, wake_at))


def _get_up(view: View) -> Thought[Decision]:
    """Plans the day and begins it."""
    # What it has done is of yesterday until it gets up; on the first day there is none.
    yesterday = (yield from summarise_day(view)) if view.done_today else ""
    plan = yield from day_plan(view, yesterday)
    started = _with(view, day_plan=plan, hours=(), done_today=())
    begun = yield from _go_on(started, ())
    return begun._replace(wakes=True, day_plan=plan, yesterday=yesterday)


def _go_on(view: View, planned: tuple[PlannedAction, ...]) -> Thought[Decision]:
    """Takes the next action of the plan; splits the next hour, or part of the day, when there is none; ends in bed."""
    second = view.now.second_of_day
    chunk = chunk_at(view.day_plan, second)
    if chunk is None or view.now.seconds >= view.now.at(bed_time(view.persona)).seconds:
        tomorrow = _tomorrow(view) if second >= bed_time(view.persona) else view
        wake = yield from wake_hour(tomorrow)
        wake_at = tomorrow.now.at(wake).seconds
        return Decision(wake_at=wake_at, planned=(), action=asleep(view, view.now.seconds, wake_at))
    # What a walk or a pause has made obsolete is dropped, so that the plan keeps to the clock.
    left = tuple(action for action in planned if action.start + action.minutes * MINUTE > second)
    hours = None
    if not left:
        if chunk_at(view.hours, second - second % GRAIN) is None:
            hours = yield from next_hours(view)
            view = _with(view, hours=hours)
        left = yield from next_actions(view)
    first = left[0]
    end = view.now.at(first.start + first.minutes * MINUTE).seconds
    action = yield from ground(view, first.text, chunk.place, view.now.seconds, end)
    return Decision(hours=hours, planned=left[1:], action=action)


def _tomorrow(view: View) -> View:
    return _with(view, now=view.now.midnight + DAY)


def _with(view: View, **changes: Any) -> View:
    from dataclasses import replace

    return replace(view, **changes)


# ---- 5 act -----------------------------------------------------------------------------------------------------------


def _apply(state: TownState, agent: AgentState, decision: Decision, facts: StepFacts) -> None:
    if decision.wakes:
        agent.asleep, agent.wake_at, agent.done_today = False, None, ()
        facts.events.append(Event(agent.name, "wake", f"{agent.name} gets up"))
    if decision.yesterday:
        agent.summary_due = True
        facts.summaries.append((agent.name, "day", decision.yesterday))
    if decision.day_plan is not None:
        agent.day_plan = decision.day_plan
        agent.hours = ()
        facts.day_plans.append((agent.name, decision.day_plan))
    if decision.hours is not None:
        agent.hours = decision.hours
        facts.hours.append((agent.name, decision.hours))
    if decision.planned is not None:
        agent.planned = decision.planned
    if decision.action is None:
        return
    action = decision.action
    agent.action = action
    agent.goal = _goal(state, agent, action)
    facts.actions.append((agent.name, action))
    if action.text == SLEEPING:
        agent.asleep, agent.wake_at, agent.day_plan, agent.hours = True, decision.wake_at, (), ()
        facts.events.append(Event(agent.name, "sleep", f"{agent.name} goes to sleep"))
    else:
        agent.done_today = (*agent.done_today, (state.now.second_of_day, action.text))
        agent.to_remember = (*agent.to_remember, f"{agent.name} is {action.text}")
        facts.events.append(Event(agent.name, "act", f"{agent.name} is {action.text}"))


def _conclude(
    state: TownState, scheduler: Scheduler, agent: AgentState, reflected: Reflected, facts: StepFacts
) -> None:
    """Stores what a reflection came to; the count towards the next one begins anew."""
    agent.unreflected, agent.summary_due = 0, True
    facts.questions += [(agent.name, question) for question in reflected.questions]
    vectors = scheduler.embedder.embed([insight.text for insight in reflected.insights])
    for insight, vector in zip(reflected.insights, vectors, strict=True):
        memory = agent.stream.append(
            insight.text, MemoryKind.REFLECTION, state.now, insight.importance, insight.evidence
        )
        agent.index.add(memory.id, vector)
        state.importance_known[insight.text] = insight.importance
        facts.events.append(Event(agent.name, "reflect", insight.text))


def _goal(state: TownState, agent: AgentState, action: Action) -> tuple[Tile, ...]:
    """The nearest tile at the object that nobody else stands on or heads for; any tile at it if all are taken."""
    stand = state.town.thing(action.address).stand
    taken = {tile for other in state.agents if other is not agent for tile in (other.tile, *other.goal)}
    field_from_here = state.town.grid.distance_field(frozenset({agent.tile}))
    free = [tile for tile in stand if tile not in taken] or list(stand)
    return (min(free, key=lambda tile: (field_from_here[tile.y, tile.x], tile)),)


def _plan_texts(state: TownState, facts: StepFacts) -> list[tuple[AgentState, str]]:
    """Day plans as memories (paper §4.3: plans are stored and retrieved like the rest)."""
    texts = []
    for name, plan in facts.day_plans:
        lines = ", ".join(f"{chunk.activity} at {chunk.place}" for chunk in plan)
        texts.append((state.agent(name), f"{name}'s plan for {facts.at.date_words}: {lines}"))
    return texts


def _walk(state: TownState, facts: StepFacts) -> None:
    """Moves everybody who has somewhere to go by one tile, in id order; people can pass one another."""
    for agent in state.agents:
        if not agent.walking:
            continue
        distances = state.town.grid.distance_field(frozenset(agent.goal))
        tile = state.town.grid.next_tile(distances, agent.tile)
        if tile is None:
            raise RuntimeError(
                f"{agent.name} at {agent.tile} cannot reach {agent.goal}; the map check should have told"
            )
        agent.tile = tile
        facts.moved.append((agent.name, tile))
        if not agent.walking and agent.action is not None:
            facts.events.append(Event(agent.name, "arrive", f"{agent.name} arrives at {agent.action.address}"))


def _set_objects(state: TownState, facts: StepFacts) -> None:
    """An object has the state its user gives it while the user is there, and its idle state when it is released."""
    in_use = {
        agent.action.address: agent.action.object_state
        for agent in state.agents
        if agent.action is not None and not agent.walking
    }
    for address in sorted({*state.object_states, *in_use}):
        new = in_use.get(address)
        if new != state.object_states.get(address):
            facts.states[str(address)] = new if new is not None else state.town.thing(address).idle_state
    state.object_states = in_use
