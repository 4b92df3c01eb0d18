"""Phase 5 of a step: what was decided is done (DESIGN §6)."""

from __future__ import annotations

from localville.memory.stream import MemoryKind
from localville.mind.plan import SLEEPING
from localville.mind.reflect import Reflected
from localville.mind.thought import Action
from localville.sim.facts import Decision, Event, StepFacts
from localville.sim.room import stops_before
from localville.sim.scheduler import Scheduler
from localville.sim.town import AgentState, TownState
from localville.world.grid import Tile
from localville.world.places import Address


def apply(state: TownState, agent: AgentState, decision: Decision, facts: StepFacts) -> None:
    """Puts a decision into the state of its agent."""
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
    if decision.put_right is not None:
        _put_right(state, agent, decision.put_right, facts)
    if decision.full:
        _turn_away(state, agent, decision, facts)
    if decision.action is None:
        return
    if decision.action.text == SLEEPING:
        agent.asleep, agent.wake_at, agent.day_plan, agent.hours = True, decision.wake_at, (), ()
        facts.events.append(Event(agent.name, "sleep", f"{agent.name} goes to sleep"))
    agent.sees_to = ""
    begin(state, agent, decision.action, facts)
    agent.waits_for = decision.full if decision.waits else ""


def begin(state: TownState, agent: AgentState, action: Action, facts: StepFacts) -> None:
    """Lets an agent set about an action: it heads for the object and, once there, remembers what it is doing."""
    agent.action, agent.stopped_at, agent.waits_for = action, "", ""
    agent.goal = goal_at(state, agent, action)
    facts.actions.append((agent.name, action))
    if action.text == SLEEPING:
        return
    agent.done_today = (*agent.done_today, (state.now.second_of_day, action.text))
    facts.events.append(Event(agent.name, "act", f"{agent.name} is {action.text}"))
    if not agent.walking:
        agent.to_remember = (*agent.to_remember, f"{agent.name} is {action.text}")


def _put_right(state: TownState, agent: AgentState, done: bool, facts: StepFacts) -> None:
    """What was seen to is in order again, or is news again."""
    address = Address.parse(agent.sees_to)
    agent.sees_to = ""
    words = state.set_states[address]
    if done:
        thing = state.town.thing(address)
        del state.set_states[address]
        text = f"the {thing.name} at {address.sector} is {thing.idle_state} again"
        agent.to_remember = (*agent.to_remember, text)
        facts.events.append(Event(agent.name, "react", text))
    agent.considered.pop(f"{address} is {words}", None)


def _turn_away(state: TownState, agent: AgentState, decision: Decision, facts: StepFacts) -> None:
    """What was to be done in a full room has not been done; to wait or not, it is remembered that the room was full."""
    room = Address.parse(decision.full)
    agent.stopped_at = ""
    agent.done_today = agent.done_today[:-1]
    taken = f"finding the {room.arena} taken"
    if not decision.waits:
        agent.avoids = {place: until for place, until in agent.avoids.items() if until > state.now.seconds}
        agent.avoids[decision.full] = state.now.seconds + decision.avoid_seconds
        agent.done_today = (*agent.done_today, (state.now.second_of_day, taken))
    agent.to_remember = (*agent.to_remember, f"{agent.name} is {taken}")
    kind, what = ("wait", "waits for") if decision.waits else ("avoid", "does not wait for")
    facts.events.append(Event(agent.name, kind, f"{agent.name} {what} the {room.arena} of {room.sector}"))


def conclude(state: TownState, scheduler: Scheduler, agent: AgentState, reflected: Reflected, facts: StepFacts) -> None:
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


def goal_at(state: TownState, agent: AgentState, action: Action) -> tuple[Tile, ...]:
    """The nearest tile at the object that nobody else stands on or heads for; any tile at it if all are taken.

    Nowhere for an action without an object: it is done where one stands.
    """
    if not action.address.object:
        return ()
    stand = state.town.thing(action.address).stand
    taken = {tile for other in state.agents if other is not agent for tile in (other.tile, *other.goal)}
    field_from_here = state.town.grid.distance_field(frozenset({agent.tile}))
    free = [tile for tile in stand if tile not in taken] or list(stand)
    return (min(free, key=lambda tile: (field_from_here[tile.y, tile.x], tile)),)


def plan_texts(state: TownState, facts: StepFacts) -> list[tuple[AgentState, str]]:
    """Day plans as memories (paper §4.3: plans are stored and retrieved like the rest)."""
    texts = []
    for name, plan in facts.day_plans:
        lines = ", ".join(f"{chunk.activity} at {chunk.place}" for chunk in plan)
        texts.append((state.agent(name), f"{name}'s plan for {facts.at.date_words}: {lines}"))
    return texts


def walk(state: TownState, facts: StepFacts) -> None:
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
        if room := stops_before(state, agent, tile):
            agent.stopped_at = str(room)
            continue
        agent.tile = tile
        facts.moved.append((agent.name, tile))
        if not agent.walking and agent.action is not None:
            facts.events.append(Event(agent.name, "arrive", f"{agent.name} arrives at {agent.action.address}"))
            if not agent.asleep:
                agent.to_remember = (*agent.to_remember, f"{agent.name} is {agent.action.text}")


def set_objects(state: TownState, facts: StepFacts) -> None:
    """An object has the state its user gives it while the user is there, and its idle state when it is released.

    One that was set from outside keeps what was set, whoever uses it.
    """
    in_use = {
        agent.action.address: agent.action.object_state
        for agent in state.agents
        if agent.action is not None and not agent.walking and agent.action.address.object
    }
    states = {**in_use, **state.set_states}
    for address in sorted({*state.object_states, *states}):
        new = states.get(address)
        if new != state.object_states.get(address):
            facts.states[str(address)] = new if new is not None else state.town.thing(address).idle_state
    state.object_states = states
