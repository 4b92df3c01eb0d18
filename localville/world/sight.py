"""Who and what an agent takes in at one step (paper §4.3.1; numbers in PAPER §10).

Sight reaches as far as the radius in a square around the agent (Chebyshev distance, as in the original code) and never
leaves the arena: walls and doors end it. All tiles outside arenas are one place, the outdoors. People come before
objects in use and those before idle objects, so that a burning stove is not crowded out by idle chairs; within each
group the nearest come first and equally near ones by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from localville.world.grid import Tile
from localville.world.places import OUTDOORS, Address, Town


class Kind(StrEnum):
    """Names what a percept is about."""

    PERSON = "person"
    OBJECT = "object"


class Percept(NamedTuple):
    """Holds one thing noticed, as the sentence that becomes an observation."""

    kind: Kind
    subject: str
    text: str
    """``Klaus Mueller is reading`` or ``stove is idle``."""
    distance: int
    """Chebyshev, in tiles."""
    address: Address
    """The object's own address; for a person the arena, or `OUTDOORS`."""
    idle: bool = False
    """Whether an object is in its idle state; callers may leave such percepts out."""


def perceive(
    town: Town,
    me: str,
    tile: Tile,
    others: Mapping[str, tuple[Tile, str]],
    states: Mapping[Address, str],
    *,
    radius: int,
    bandwidth: int,
    asleep: bool = False,
) -> tuple[Percept, ...]:
    """The percepts of one agent at a tile, best first, at most ``bandwidth`` of them; none for a sleeper.

    others: name → tile and activity, the words that follow "is" (``me`` among them is passed over).
    states: object → state, the words that follow "is"; an object that is not in it is in its idle state.
    radius: in tiles.
    """
    if asleep or bandwidth <= 0:
        return ()
    x, y = tile
    arena = town.arena_at(tile)
    place = OUTDOORS if arena is None else arena.address
    people = []
    for name, (at, activity) in others.items():
        distance = max(abs(at[0] - x), abs(at[1] - y))
        if distance <= radius and name != me and town.arena_at(at) is arena:
            people.append((distance, name, activity))
    people.sort()
    seen = [
        Percept(Kind.PERSON, name, f"{name} is {activity}", distance, place)
        for distance, name, activity in people[:bandwidth]
    ]
    left = bandwidth - len(seen)
    if arena is None or not left:
        return tuple(seen)
    objects = []
    for thing in arena.things:
        distance = min([max(abs(at[0] - x), abs(at[1] - y)) for at in thing.tiles])
        if distance <= radius:
            state = states.get(thing.address, thing.idle_state)
            objects.append((state == thing.idle_state, distance, thing.name, state, thing.address))
    objects.sort()
    for idle, distance, name, state, address in objects[:left]:
        seen.append(Percept(Kind.OBJECT, name, f"{name} is {state}", distance, address, idle))
    return tuple(seen)


def fresh(percepts: Iterable[Percept], recent: Sequence[str], retention: int = 8) -> tuple[Percept, ...]:
    """The percepts whose texts are not among the latest ``retention`` texts; ``recent`` ends with the latest.

    The default is the original's (PAPER §10).
    """
    remembered = set(recent[-retention:]) if retention > 0 else set()
    return tuple(percept for percept in percepts if percept.text not in remembered)
