"""The town as places: world > sector > arena > object, as immutable facts (paper §3.1.1, §5.1).

What can change, object states and where agents are, lives in the simulation and is passed in where it is needed. The
order of everything is the order of the map file, so prompts built from a town are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from localville.errors import InputError
from localville.world.grid import Grid, Tile

OUTDOORS_NAME = "outdoors"
"""What every tile outside all arenas is called; no sector may take this name."""


class Address(NamedTuple):
    """Names a sector, an arena of it, or an object in that: ``Hobbs Cafe:cafe:coffee machine``."""

    sector: str
    arena: str = ""
    object: str = ""

    def __str__(self) -> str:
        return ":".join(part for part in self if part)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads ``sector``, ``sector:arena`` or ``sector:arena:object``; blanks around the colons do not count."""
        parts = [part.strip() for part in text.split(":")]
        if len(parts) > 3 or not all(parts):
            raise InputError(f"'{text}' is no address", next="Write it as 'sector:arena:object', or less of it")
        return cls(*parts)

    @property
    def name(self) -> str:
        """The last part: what people call the place."""
        return self.object or self.arena or self.sector

    @property
    def parent(self) -> Address | None:
        """The arena of an object, the sector of an arena, nothing for a sector."""
        if self.object:
            return Address(self.sector, self.arena)
        return Address(self.sector) if self.arena else None

    def within(self, other: Address) -> bool:
        """Whether this is the other place or lies in it."""
        mine, theirs = str(self).split(":"), str(other).split(":")
        return mine[: len(theirs)] == theirs


OUTDOORS = Address(OUTDOORS_NAME)
"""The streets and lawns between the arenas, as one place."""


@dataclass(frozen=True)
class Thing:
    """Describes an object that agents can use."""

    address: Address
    tiles: tuple[Tile, ...]
    """What it covers, in reading order."""
    stand: tuple[Tile, ...]
    """Reachable tiles of its arena where a user stands: on it where it can be walked on, else beside it; sorted."""
    idle_state: str = "idle"
    affords: str = ""
    """What it is for, in words: ``making coffee``."""
    capacity: int = 1
    """How many can use it at once."""

    @property
    def name(self) -> str:
        return self.address.object


@dataclass(frozen=True)
class Arena:
    """Describes a room, or a piece of open ground, and the norms that hold there (paper §8.1)."""

    address: Address
    tiles: frozenset[Tile]
    """All it covers: floor, furniture, and the doorways that lead to it."""
    floor: frozenset[Tile]
    """The reachable tiles that lie in its drawn area: where one can stand to be there. Doorways are left out."""
    things: tuple[Thing, ...] = ()
    note: str = ""
    """The norm in words: ``One person at a time.``"""
    hours: tuple[int, int] | None = None
    """Opening and closing in seconds of the day; closing before opening means past midnight."""
    capacity: int | None = None
    private_to: tuple[str, ...] = ()
    """Full names of the only people who live here; empty for a shared place."""

    @property
    def name(self) -> str:
        return self.address.arena


@dataclass(frozen=True)
class Sector:
    """Describes a building or a park and its arenas."""

    address: Address
    tiles: frozenset[Tile]
    arenas: tuple[Arena, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        return self.address.sector


@dataclass(frozen=True, eq=False)
class Town:
    """Holds every place of a map and the grid that people walk on."""

    name: str
    title: str
    sectors: tuple[Sector, ...]
    grid: Grid
    spawns: Mapping[str, Tile] = field(default_factory=dict)
    """Named reachable tiles where a visitor may enter."""

    @classmethod
    def load(cls, name_or_path: str | Path) -> Town:
        """Reads a shipped map by name or a ``.tmj`` file by path; raises `MapError`."""
        from localville.world.tiled import find_map, load_town

        return load_town(find_map(name_or_path))

    @property
    def width(self) -> int:
        """In tiles."""
        return self.grid.width

    @property
    def height(self) -> int:
        """In tiles."""
        return self.grid.height

    def arenas(self) -> Iterator[Arena]:
        for sector in self.sectors:
            yield from sector.arenas

    def things(self) -> Iterator[Thing]:
        for arena in self.arenas():
            yield from arena.things

    @cached_property
    def addresses(self) -> tuple[Address, ...]:
        """Every address in map order: a sector, its first arena, that arena's objects, its second arena, and so on."""
        return tuple(self._places)

    def arena_at(self, tile: Tile) -> Arena | None:
        """The arena that a tile belongs to; nothing means outdoors."""
        return self._arena_of.get(tile)

    def where(self, tile: Tile) -> Address:
        """The address of the arena at a tile, or `OUTDOORS`."""
        arena = self._arena_of.get(tile)
        return OUTDOORS if arena is None else arena.address

    def sector(self, address: Address) -> Sector:
        """The sector that an address names or lies in; raises `InputError` with the nearest match."""
        place = self._places.get(Address(address.sector))
        if not isinstance(place, Sector):
            raise self._unknown(str(address))
        return place

    def arena(self, address: Address) -> Arena:
        """The arena that an address names or lies in; raises `InputError` with the nearest match."""
        place = self._places.get(Address(address.sector, address.arena))
        if not isinstance(place, Arena):
            raise self._unknown(str(address))
        return place

    def thing(self, address: Address) -> Thing:
        """The object at an address; raises `InputError` with the nearest match."""
        place = self._places.get(address)
        if not isinstance(place, Thing):
            raise self._unknown(str(address))
        return place

    def rank(self, address: Address) -> int:
        """The position of an address in map order; raises `InputError` with the nearest match."""
        if address not in self._ranks:
            raise self._unknown(str(address))
        return self._ranks[address]

    def inside(self, address: Address) -> tuple[Address, ...]:
        """A place and everything in it, in map order."""
        first = self.rank(address)
        depth = len([part for part in address if part])
        after = (i for i in range(first + 1, len(self.addresses)) if self.addresses[i][:depth] != address[:depth])
        return self.addresses[first : next(after, len(self.addresses))]

    def find(self, text: str) -> Address:
        """Finds the one place that a person means: a full address or the end of one, in any case.

        Raises `InputError` with the nearest match when nothing fits, and with the candidates when several do.
        """
        wanted = tuple(_plain(part) for part in text.strip().strip("<>").split(":"))
        if not all(wanted):
            raise InputError(f"'{text}' is no address", next="Write it as 'sector:arena:object', or less of it")
        hits = [address for address, parts in self._spoken.items() if parts == wanted]
        hits = hits or [address for address, parts in self._spoken.items() if parts[-len(wanted) :] == wanted]
        if not hits:
            raise self._unknown(text)
        if len(hits) > 1:
            some = ", ".join(f"'{address}'" for address in hits[:3])
            raise InputError(f"'{text}' names {len(hits)} places on map '{self.name}'", next=f"Say which: {some}")
        return hits[0]

    def _unknown(self, text: str) -> InputError:
        wanted = ":".join(_plain(part) for part in text.split(":"))
        spoken = {":".join(parts): address for address, parts in self._spoken.items()}
        names = {parts[-1]: address for address, parts in reversed(self._spoken.items())}
        if close := get_close_matches(wanted, spoken, 1) or get_close_matches(wanted, names, 1):
            hint = f"Did you mean '{spoken.get(close[0]) or names[close[0]]}'?"
        else:
            hint = f"The sectors are: {', '.join(sector.name for sector in self.sectors)}"
        return InputError(f"there is no place '{text}' on map '{self.name}'", next=hint)

    @cached_property
    def _places(self) -> dict[Address, Sector | Arena | Thing]:
        places: dict[Address, Sector | Arena | Thing] = {}
        for sector in self.sectors:
            places[sector.address] = sector
            for arena in sector.arenas:
                places[arena.address] = arena
                places.update((thing.address, thing) for thing in arena.things)
        return places

    @cached_property
    def _ranks(self) -> dict[Address, int]:
        return {address: rank for rank, address in enumerate(self._places)}

    @cached_property
    def _spoken(self) -> dict[Address, tuple[str, ...]]:
        return {address: tuple(_plain(part) for part in address if part) for address in self._places}

    @cached_property
    def _arena_of(self) -> dict[Tile, Arena]:
        return {tile: arena for arena in self.arenas() for tile in arena.tiles}


@dataclass(frozen=True)
class PlaceTree:
    """Holds the part of the town that one agent knows (paper §5.1): it starts small and grows by what is seen.

    Whoever knows an object knows its arena and sector. What is known is kept in map order, so two trees with the same
    places are equal and print the same. What is known of an object's state may be out of date until the agent comes back.
    """

    town: Town = field(repr=False, compare=False)
    known: tuple[Address, ...] = ()
    states: tuple[tuple[Address, str], ...] = ()
    """Of objects last seen out of order: the state they were in, in map order."""

    def sectors(self) -> tuple[str, ...]:
        return tuple(address.sector for address in self.known if not address.arena)

    def arenas(self, sector: str) -> tuple[str, ...]:
        return tuple(a.arena for a in self.known if a.sector == sector and a.arena and not a.object)

    def objects(self, sector: str, arena: str) -> tuple[str, ...]:
        return tuple(a.object for a in self.known if a[:2] == (sector, arena) and a.object)

    def knows(self, address: Address) -> bool:
        return address in self._set

    def learn(self, addresses: Iterable[Address]) -> PlaceTree:
        """The tree with these places and those that hold them; the same object if nothing is new.

        Raises `InputError` for a place that is not on the map.
        """
        new: set[Address] = set()
        for address in addresses:
            step: Address | None = address
            while step is not None and step not in self._set and step not in new:
                self.town.rank(step)
                new.add(step)
                step = step.parent
        if not new:
            return self
        return PlaceTree(self.town, tuple(sorted(self._set | new, key=self.town.rank)), self.states)

    def see(self, states: Mapping[Address, str | None]) -> PlaceTree:
        """The tree after a look at some objects: the state each is in, nothing if it is in order."""
        old = dict(self.states)
        new = {address: state for address, state in {**old, **states}.items() if state is not None}
        if new == old:
            return self
        return PlaceTree(self.town, self.known, tuple(sorted(new.items(), key=lambda item: self.town.rank(item[0]))))

    def state(self, address: Address) -> str | None:
        """The state an object was last seen in, if it was out of order."""
        return dict(self.states).get(address)

    def to_json(self) -> dict[str, Any]:
        """The known addresses as texts, in map order, and the states that were out of order."""
        return {
            "known": [str(address) for address in self.known],
            "states": {str(address): state for address, state in self.states},
        }

    @classmethod
    def from_json(cls, town: Town, data: Mapping[str, Any]) -> PlaceTree:
        """Reads what `to_json` wrote; raises `InputError` for a place that the map does not have."""
        tree = cls(town).learn(Address.parse(text) for text in data["known"])
        return tree.see({Address.parse(text): state for text, state in data["states"].items()})

    @cached_property
    def _set(self) -> frozenset[Address]:
        return frozenset(self.known)


def _plain(name: str) -> str:
    """A name as it is compared: no case, single blanks, straight apostrophes."""
    return " ".join(name.replace("’", "'").split()).casefold()
