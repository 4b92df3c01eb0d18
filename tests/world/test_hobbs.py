"""The shipped map: whole, small, drawn by its script, and a place where the paper's morning can happen."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from localville.assets import maps_dir
from localville.world.places import Arena, Thing, Town

TOWN = Town.load("hobbs")
ARENAS = {str(arena.address): arena for arena in TOWN.arenas()}
THINGS = {str(thing.address): thing for thing in TOWN.things()}


def test_the_sectors_are_the_five_of_the_town() -> None:
    assert [sector.name for sector in TOWN.sectors] == ["Hobbs Cafe", "Dorm", "Isabella's apartment", "Park", "Library"]


def test_the_files_are_what_the_script_draws() -> None:
    script = maps_dir() / "build.py"
    command = [sys.executable, "-B", "-W", "error", str(script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "the map is as drawn"), done.stderr


def test_the_map_is_small_enough_for_a_wheel() -> None:
    assert sum(path.stat().st_size for path in maps_dir().iterdir() if path.is_file()) < 200_000


def test_tiled_finds_every_field_it_writes_itself() -> None:
    drawn = json.loads((maps_dir() / "hobbs.tmj").read_text(encoding="utf-8"))
    fields = "compressionlevel height infinite layers nextlayerid nextobjectid orientation renderorder tiledversion"
    assert set(f"{fields} tileheight tilesets tilewidth type version width".split()) <= set(drawn)
    layers = [layer["id"] for layer in drawn["layers"]]
    objects = [item["id"] for layer in drawn["layers"] for item in layer.get("objects", [])]
    for ids, following in ((layers, drawn["nextlayerid"]), (objects, drawn["nextobjectid"])):
        assert len(set(ids)) == len(ids)
        assert following == max(ids) + 1


@pytest.mark.parametrize("arena", ARENAS.values(), ids=ARENAS)
def test_every_tile_of_floor_can_be_walked_to(arena: Arena) -> None:
    field = TOWN.grid.distance_field(frozenset({TOWN.spawns["west road"]}))
    assert all(field[tile.y, tile.x] >= 0 for tile in arena.tiles if TOWN.grid.can_walk(tile))
    assert len(arena.floor) >= 9


@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)
def test_an_object_has_room_for_all_who_can_use_it(thing: Thing) -> None:
    assert 1 <= thing.capacity <= len(thing.stand)
    assert all(TOWN.where(tile) == thing.address.parent for tile in thing.stand)


def test_nobody_walks_across_a_bed() -> None:
    for thing in THINGS.values():
        if thing.name == "bed":
            around = [(x + a, y + b) for x, y in thing.stand for a, b in ((0, -1), (1, 0), (0, 1), (-1, 0))]
            doors = [(x, y) for x, y in around if (x, y) not in thing.tiles and TOWN.grid.walkable[y, x]]
            assert len(doors) == 1


def test_names_sound_natural_in_a_sentence() -> None:
    for thing in THINGS.values():
        assert thing.name == thing.name.lower()
        assert not thing.affords.startswith("using the ") or thing.name == "toilet"
        assert thing.affords.split()[0].rstrip(",").endswith("ing")


@pytest.mark.parametrize(
    "address",
    [
        "Hobbs Cafe:cafe:coffee machine",
        "Hobbs Cafe:cafe:counter",
        "Hobbs Cafe:cafe:piano",
        "Isabella's apartment:kitchen:stove",
        "Isabella's apartment:bathroom:shower",
        "Dorm:common room:refrigerator",
        "Library:reading room:computer desk",
        "Park:garden:bench by the pond",
    ],
)
def test_the_places_of_the_paper_are_there(address: str) -> None:
    assert address in THINGS


def test_norms_are_written_where_the_paper_found_them_broken() -> None:
    assert ARENAS["Dorm:bathroom"].capacity == 1
    assert ARENAS["Hobbs Cafe:cafe"].hours == (8 * 3600, 20 * 3600)
    assert ARENAS["Dorm:Maria Lopez's room"].private_to == ("Maria Lopez",)
