"""Who lives where: a persona checked against a map, its bed, and the places it knows at the start (paper §5.1)."""

from __future__ import annotations

from localville.config import Persona
from localville.errors import InputError, PersonaError
from localville.world.places import Address, Arena, PlaceTree, Thing, Town


def home_arenas(town: Town, home: str) -> tuple[Arena, ...]:
    """The rooms of a home in map order: all of a sector, or the one room of ``sector:arena``.

    Raises `InputError` with the nearest match, and for a home that is an object.
    """
    address = town.find(home)
    if address.object:
        raise InputError(f"'{home}' is an object, not a home", next=f"Write it as '{address.parent}'")
    return (town.arena(address),) if address.arena else town.sector(address).arenas


def is_bed(thing: Thing) -> bool:
    """Whether people sleep there: it is called ``bed``, or affords sleeping; a flower bed is and does neither."""
    return thing.name.casefold() == "bed" or "sleep" in thing.affords.casefold()


def bed_of(town: Town, home: str, name: str = "") -> Thing:
    """The bed of a home: one in a room that is private to this person before any other, then the first in map order.

    Raises `InputError` for an unknown home and for one without a bed that this person may use.
    """
    beds: list[tuple[bool, Thing]] = []
    for arena in home_arenas(town, home):
        if not arena.private_to or name in arena.private_to or not name:
            beds += [(name not in arena.private_to, thing) for thing in arena.things if is_bed(thing)]
    if not beds:
        whose = f" for {name}" if name else ""
        hint = "Draw one with affords 'sleeping' in Tiled, or choose another home"
        raise InputError(f"there is no bed{whose} in '{home}' on map '{town.name}'", next=hint)
    return min(beds, key=lambda bed: bed[0])[1]


def check_resident(town: Town, persona: Persona) -> None:
    """Checks that a persona's home, bed, workplace and known places are on the map; raises `PersonaError`."""
    _places(town, persona)


def starting_tree(town: Town, persona: Persona) -> PlaceTree:
    """The places that a persona knows at the start: home, workplace and known places, without others' private rooms.

    Of a shared house, where ``home`` names a room, it knows that room and the rooms that are nobody's: those that are
    neither private to others nor hold a bed. Raises `PersonaError`.
    """
    return PlaceTree(town).learn(_places(town, persona))


def _places(town: Town, persona: Persona) -> list[Address]:
    home = _resolve(town, persona, "home", persona.home)
    try:
        bed_of(town, str(home), persona.name)
    except InputError as fault:
        raise PersonaError(fault.what, where=f"persona '{persona.name}', home", next=fault.next) from None
    known = [address for address in town.inside(home) if not _closed_to(town, address, persona.name)]
    if home.arena:
        for arena in town.sector(home).arenas:
            if not arena.private_to and not any(map(is_bed, arena.things)):
                known += town.inside(arena.address)
    asked = [("workplace", persona.workplace)] if persona.workplace else []
    for key, text in asked + [("known_places", place) for place in persona.known_places]:
        place = _resolve(town, persona, key, text or "")
        known += [address for address in town.inside(place) if not _closed_to(town, address, persona.name)]
    return known


def _closed_to(town: Town, address: Address, name: str) -> bool:
    private_to = town.arena(address).private_to if address.arena else ()
    return bool(private_to) and name not in private_to


def _resolve(town: Town, persona: Persona, key: str, text: str) -> Address:
    try:
        address = town.find(text)
    except InputError as fault:
        raise PersonaError(fault.what, where=f"persona '{persona.name}', {key}", next=fault.next) from None
    if key == "home" and address.object:
        what = f"'{text}' is an object, not a home"
        raise PersonaError(what, where=f"persona '{persona.name}', {key}", next=f"Write it as '{address.parent}'")
    return address
