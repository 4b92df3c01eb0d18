"""Rooms that hold so many and no more: a fact of the world, not a hope (paper §8.1: one-person bathrooms shared by several).

Whoever comes to a full room stops before it, and decides in the next step whether to wait or to do something else. One that
waits goes on when there is room, or thinks again after a while.
"""

from __future__ import annotations

from localville.sim.town import AgentState, TownState
from localville.world.grid import Tile
from localville.world.places import Address, Arena


def inside(state: TownState, room: Arena, but: AgentState) -> list[AgentState]:
    """Who is in a room, other than one."""
    return [other for other in state.agents if other is not but and state.town.arena_at(other.tile) is room]


def is_full(state: TownState, address: Address, agent: AgentState) -> bool:
    """Whether a room has no place left for an agent that is not in it."""
    room = state.town.arena(address)
    return room.capacity is not None and len(inside(state, room, agent)) >= room.capacity


def stops_before(state: TownState, agent: AgentState, tile: Tile) -> Address | None:
    """The full room that an agent is about to enter to stay there, if its next tile lies in one.

    Nobody is kept from bed. Whoever only passes through is let pass, else a map whose rooms lie behind a full one would
    stand still.
    """
    room, goal = state.town.arena_at(tile), state.town.arena_at(agent.goal[0])
    if agent.asleep or room is None or room is state.town.arena_at(agent.tile) or room is not goal:
        return None
    return room.address if is_full(state, room.address, agent) else None
