"""From a Tiled map to a `Town`: sectors, arenas and objects from their layers, and every check that a town must pass.

The layers are described in `maps/README.md`; the file format itself is `tmj.py`'s matter. A tile belongs to the shape
that its centre lies in. A walkable tile of a sector outside its arenas is a doorway and belongs to the nearest arena.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localville.assets import maps_dir
from localville.clock import parse_clock
from localville.errors import ConfigError, MapError
from localville.world.grid import MOVES, Grid, Tile, largest_region
from localville.world.places import OUTDOORS_NAME, Address, Arena, Sector, Thing, Town
from localville.world.tmj import MapObject, Property, TiledMap, read_tmj

NAME_MAX = 60
"""Characters of a name: the bound of a persona's `home` (config.Name), so that every place can be a home."""
TEXT_MAX = 200
"""Characters of a text property. Ours: it becomes a line of a prompt."""

SECTOR_KEYS = {"note": str}
ARENA_KEYS = {"note": str, "open": str, "close": str, "capacity": int, "private_to": str}
OBJECT_KEYS = {"idle": str, "affords": str, "capacity": int}


def map_names() -> list[str]:
    """The maps that ship with localville."""
    return sorted(path.stem for path in maps_dir().glob("*.tmj"))


def find_map(name_or_path: str | Path) -> Path:
    """Finds a map by shipped name or by path to a ``.tmj`` file; raises `MapError`."""
    path = Path(name_or_path)
    if path.suffix == ".tmj":
        return path
    shipped = maps_dir() / f"{name_or_path}.tmj"
    names = map_names()
    if str(name_or_path) not in names:
        close = get_close_matches(str(name_or_path), names, 1)
        hint = f"Did you mean '{close[0]}'?" if close else f"Known maps: {', '.join(names)}."
        raise MapError(f"there is no map '{name_or_path}'", next=f"{hint} A path to a .tmj file works too")
    return shipped


def load_town(path: Path) -> Town:
    """Reads and checks a map; raises `MapError` at the first fault, naming layer and object."""
    drawn = read_tmj(path)
    walkable = _tile_layer(drawn, "collision") == 0
    if not walkable.any():
        raise MapError("every tile is blocked", where=drawn.where("collision"), next="Erase tiles where one can walk")
    reached = largest_region(walkable)
    sectors = _sectors(drawn)
    arenas = _arenas(drawn, sectors, reached)
    things = _things(drawn, arenas, reached)
    finished: dict[Address, list[Arena]] = {sector.address: [] for sector in sectors}
    for arena in arenas:
        finished[Address(arena.address.sector)].append(replace(arena, things=tuple(things[arena.address])))
    title = _properties(drawn.properties, {"title": str}, drawn.where()).get("title", path.stem)
    return Town(
        name=path.stem,
        title=title,
        sectors=tuple(replace(sector, arenas=tuple(finished[sector.address])) for sector in sectors),
        grid=Grid(walkable),
        spawns=_spawns(drawn, reached),
    )


def _sectors(drawn: TiledMap) -> list[Sector]:
    layer, sectors, owner = "sectors", list[Sector](), dict[Tile, Address]()
    for item in _objects(drawn, layer):
        where = drawn.where(layer, item)
        address = Address(_name(item, where))
        if address.sector.casefold() == OUTDOORS_NAME:
            raise MapError("this name means the open ground", where=where, next="Give the sector another name in Tiled")
        _refuse_twin(address, (sector.address for sector in sectors), where)
        tiles = _claim(drawn, item, address, owner, where)
        notes = _properties(item.properties, SECTOR_KEYS, where)
        sectors.append(Sector(address, tiles, note=notes.get("note", "")))
    if not sectors:
        raise MapError("the map has no sector", where=drawn.where(layer), next="Draw a rectangle around each building")
    return sectors


def _arenas(drawn: TiledMap, sectors: list[Sector], reached: NDArray[np.bool_]) -> list[Arena]:
    layer, arenas, owner = "arenas", list[Arena](), dict[Tile, Address]()
    sector_of = {tile: sector.address for sector in sectors for tile in sector.tiles}
    for item in _objects(drawn, layer):
        where = drawn.where(layer, item)
        name = _name(item, where)
        tiles = _cover(drawn, item, where)
        homes = sorted({sector_of[tile] for tile in tiles if tile in sector_of})
        if not homes:
            raise MapError("it lies in no sector", where=where, next="Draw a sector around it in layer 'sectors'")
        if len(homes) > 1 or any(tile not in sector_of for tile in tiles):
            what = f"it reaches beyond sector '{homes[0]}'"
            raise MapError(what, where=where, next="Make the arena smaller or the sector larger in Tiled")
        address = Address(homes[0].sector, name)
        _refuse_twin(address, (arena.address for arena in arenas), where)
        _claim(drawn, item, address, owner, where)
        floor = frozenset(tile for tile in tiles if reached[tile.y, tile.x])
        if not floor:
            what = "nobody can get there: no walkable tile of it is joined to the rest of the map"
            raise MapError(what, where=where, next="Erase a doorway into it from layer 'collision'")
        arenas.append(Arena(address, frozenset(tiles), floor, **_norms(item, where)))
    doorways = _doorways(sector_of, owner, reached)
    return [replace(a, tiles=a.tiles | {tile for tile, to in doorways.items() if to == a.address}) for a in arenas]


def _doorways(
    sector_of: Mapping[Tile, Address], owner: Mapping[Tile, Address], reached: NDArray[np.bool_]
) -> dict[Tile, Address]:
    """The reachable tiles of sectors outside their arenas, each with the arena it is fewest steps from."""
    doorways: dict[Tile, Address] = {}
    queue = deque(owner.items())
    while queue:
        tile, address = queue.popleft()
        if not reached[tile.y, tile.x]:
            continue
        for dx, dy in MOVES:
            beside = Tile(tile.x + dx, tile.y + dy)
            at_home = sector_of.get(beside) == Address(address.sector)
            if at_home and beside not in owner and beside not in doorways and reached[beside.y, beside.x]:
                doorways[beside] = address
                queue.append((beside, address))
    return doorways


def _things(drawn: TiledMap, arenas: list[Arena], reached: NDArray[np.bool_]) -> dict[Address, list[Thing]]:
    layer = "objects"
    things: dict[Address, list[Thing]] = {arena.address: [] for arena in arenas}
    arena_of = {tile: arena for arena in arenas for tile in arena.tiles}
    for item in _objects(drawn, layer):
        where = drawn.where(layer, item)
        name = _name(item, where)
        tiles = _cover(drawn, item, where)
        homes = {arena_of[tile].address: arena_of[tile] for tile in tiles if tile in arena_of}
        if not homes:
            raise MapError("it lies in no arena", where=where, next="Draw an arena around it in layer 'arenas'")
        if len(homes) > 1 or any(tile not in arena_of for tile in tiles):
            what = f"it reaches beyond arena '{next(iter(homes))}'"
            raise MapError(what, where=where, next="Move the object wholly into one arena in Tiled")
        arena = next(iter(homes.values()))
        address = Address(arena.address.sector, arena.address.arena, name)
        _refuse_twin(address, (thing.address for thing in things[arena.address]), where)
        on = [tile for tile in tiles if reached[tile.y, tile.x]]
        around = {Tile(x + dx, y + dy) for x, y in tiles for dx, dy in MOVES}
        # A doorway serves only where the room has no other tile beside the object: its user would bar the way.
        stand = on or sorted(around & arena.floor) or [tile for tile in around & arena.tiles if reached[tile.y, tile.x]]
        if not stand:
            what = f"nobody can reach it: no walkable tile of '{arena.address}' touches it"
            raise MapError(what, where=where, next="Erase a tile beside it from layer 'collision', or move it")
        found = _properties(item.properties, OBJECT_KEYS, where)
        things[arena.address].append(
            Thing(
                address,
                tiles,
                tuple(sorted(stand)),
                idle_state=found.get("idle", "idle"),
                affords=found.get("affords", f"using the {name}"),
                capacity=found.get("capacity", 1),
            )
        )
    return things


def _spawns(drawn: TiledMap, reached: NDArray[np.bool_]) -> dict[str, Tile]:
    layer, spawns = "spawns", dict[str, Tile]()
    for item in drawn.object_layers.get(layer, ()):
        where = drawn.where(layer, item)
        name = _name(item, where)
        _refuse_twin(Address(name), map(Address, spawns), where)
        tile = _cover(drawn, item, where)[0]
        if not reached[tile.y, tile.x]:
            raise MapError("nobody can walk from there", where=where, next="Move it to open ground in Tiled")
        spawns[name] = tile
    return spawns


def _norms(item: MapObject, where: str) -> dict[str, Any]:
    """The note, hours, capacity and inhabitants of an arena, as fields of `Arena`."""
    found = _properties(item.properties, ARENA_KEYS, where)
    norms: dict[str, Any] = {"note": found.get("note", ""), "capacity": found.get("capacity")}
    if ("open" in found) != ("close" in found):
        raise MapError("it has only one of 'open' and 'close'", where=where, next="Add the other property in Tiled")
    if "open" in found:
        try:
            norms["hours"] = (parse_clock(found["open"]), parse_clock(found["close"]))
        except ConfigError as fault:
            raise MapError(fault.what, where=where, next=fault.next) from None
    people = (" ".join(name.split()) for name in found.get("private_to", "").replace(",", ";").split(";"))
    norms["private_to"] = tuple(name for name in people if name)
    return norms


def _properties(properties: Iterable[Property], keys: Mapping[str, type], where: str) -> dict[str, Any]:
    """The custom properties by name, checked; texts come with single blanks."""
    found: dict[str, Any] = {}
    for prop in properties:
        if prop.name not in keys:
            close = get_close_matches(prop.name, keys, 1)
            hint = f"Did you mean '{close[0]}'?" if close else f"Known here: {', '.join(keys)}"
            raise MapError(f"the property '{prop.name}' is unknown", where=where, next=hint)
        value = prop.value
        if keys[prop.name] is int:
            if type(value) is not int or value < 1:
                what = f"the property '{prop.name}' is no whole number from 1 up"
                raise MapError(what, where=where, next="Remove it and add it again with type int in Tiled")
        else:
            value = " ".join(value.split()) if isinstance(value, str) else ""
            if not 0 < len(value) <= TEXT_MAX:
                what = f"the property '{prop.name}' is no text of 1 to {TEXT_MAX} characters"
                raise MapError(what, where=where, next="Write it again in Tiled, or remove it")
        found[prop.name] = value
    return found


def _name(item: MapObject, where: str) -> str:
    """The object's name with single blanks and composed accents (NFC), so that equal names are equal texts."""
    name = unicodedata.normalize("NFC", " ".join(item.name.split()))
    if not name:
        raise MapError("it has no name", where=where, next="Name it in Tiled")
    if ":" in name:
        raise MapError("its name holds a ':', which parts addresses", where=where, next="Rename it in Tiled")
    if len(name) > NAME_MAX or not name.isprintable():
        what = f"its name is no printable text of up to {NAME_MAX} characters"
        raise MapError(what, where=where, next="Rename it in Tiled")
    return name


def _refuse_twin(address: Address, others: Iterable[Address], where: str) -> None:
    if str(address).casefold() in (str(other).casefold() for other in others):
        raise MapError(f"the address '{address}' is taken", where=where, next="Rename one of the two in Tiled")


def _cover(drawn: TiledMap, item: MapObject, where: str) -> tuple[Tile, ...]:
    tiles = drawn.tiles_of(item)
    if not tiles:
        raise MapError("it lies beside the map", where=where, next="Move it onto the map in Tiled, or delete it")
    return tiles


def _claim(
    drawn: TiledMap, item: MapObject, address: Address, owner: dict[Tile, Address], where: str
) -> frozenset[Tile]:
    """Takes the object's tiles for an address; two sectors, or two arenas, never share one."""
    tiles = _cover(drawn, item, where)
    for tile in tiles:
        if tile in owner:
            what = f"it overlaps '{owner[tile]}' at column {tile.x}, row {tile.y}"
            raise MapError(what, where=where, next="Draw the two beside each other in Tiled")
        owner[tile] = address
    return frozenset(tiles)


def _tile_layer(drawn: TiledMap, layer: str) -> NDArray[np.int64]:
    if layer not in drawn.tile_layers:
        raise MapError(
            f"the tile layer '{layer}' is missing", where=drawn.where(), next=_near(layer, drawn.tile_layers)
        )
    return drawn.tile_layers[layer]


def _objects(drawn: TiledMap, layer: str) -> tuple[MapObject, ...]:
    if layer not in drawn.object_layers:
        what = f"the object layer '{layer}' is missing"
        raise MapError(what, where=drawn.where(), next=_near(layer, drawn.object_layers))
    return drawn.object_layers[layer]


def _near(layer: str, layers: Iterable[str]) -> str:
    close = get_close_matches(layer.casefold(), list(layers), 1)
    return (
        f"Rename layer '{close[0]}' to it in Tiled" if close else "Add it in Tiled; maps/README.md says what goes there"
    )
