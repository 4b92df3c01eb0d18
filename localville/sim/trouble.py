"""Things out of order: who notices them, sees to them, and whether that helps (paper §3.1.2, §5.1).

An object whose state was set from outside keeps it until somebody's action puts it right. Whoever sees it decides whether to
see to it, unless somebody is already at it; what was interrupted is planned anew afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from localville.clock import MINUTE
from localville.config import Profile
from localville.mind.react import sees_to
from localville.sim.act import begin
from localville.sim.due import view_of
from localville.sim.facts import Event, StepFacts
from localville.sim.scheduler import Task
from localville.sim.town import AgentState, TownState
from localville.world.places import Address

TROUBLE = "trouble"


def troubles(state: TownState, profile: Profile, ways: Mapping[str, str]) -> list[Task]:
    """For everybody who sees a thing out of order that nobody is at, the question whether to see to it."""
    tasks = []
    for agent in state.agents:
        if address := _noticed(state, agent, profile):
            thing = state.town.thing(address)
            thought = sees_to(view_of(state, agent, profile, ways), thing, state.set_states[address])
            tasks.append(Task(agent, thought, TROUBLE, partner=str(address)))
    return tasks


def see_to(state: TownState, tasks: Sequence[Task], facts: StepFacts) -> None:
    """Lets those who have decided so begin, in id order; who comes second leaves it to the first."""
    for task in tasks:
        agent, address = task.agent, Address.parse(task.partner)
        agent.considered[_key(state, address)] = state.now.seconds
        if task.result is None or any(other.sees_to == task.partner for other in state.agents):
            continue
        agent.planned, agent.sees_to = (), task.partner
        thing = state.town.thing(address)
        facts.events.append(
            Event(agent.name, "react", f"{agent.name} sees that the {thing.name} is {state.set_states[address]}")
        )
        begin(state, agent, task.result, facts)


def _noticed(state: TownState, agent: AgentState, profile: Profile) -> Address | None:
    """The nearest thing out of order that an agent sees and has not thought of lately."""
    now, action = state.now.seconds, agent.action
    if not state.set_states or agent.asleep or agent.sees_to or action is None or now >= action.end:
        return None
    if state.talks_with(agent.name) or now < agent.talking_until:
        return None
    here, near = state.town.arena_at(agent.tile), []
    for address in sorted(state.set_states):
        if here is None or address.parent != here.address:
            continue
        tiles = state.town.thing(address).tiles
        distance = min(max(abs(tile.x - agent.tile.x), abs(tile.y - agent.tile.y)) for tile in tiles)
        thought = agent.considered.get(_key(state, address))
        again = thought is None or now >= thought + profile.react_again_minutes * MINUTE
        taken = any(other.sees_to == str(address) for other in state.agents)
        if distance <= profile.vision_radius_tiles and again and not taken:
            near.append((distance, address))
    return min(near)[1] if near else None


def _key(state: TownState, address: Address) -> str:
    """What an agent has considered: this thing in this state; in another one it is news again."""
    return f"{address} is {state.set_states[address]}"
