"""From layers to a town: what becomes of what is drawn, and one sentence for every map that is no town."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localville.errors import MapError
from localville.world.grid import Tile
from localville.world.places import Address, Town
from localville.world.tiled import find_map, load_town
from tests.world.drawing import Drawing, draw, house, layer, load, save, shape

KITCHEN = Address("House", "kitchen")
STOVE = Address("House", "kitchen", "stove")


def fault(folder: Path, drawing: Drawing) -> str:
    with pytest.raises(MapError) as caught:
        load_town(save(folder, drawing))
    return str(caught.value)


def test_shapes_become_the_tree_in_the_order_of_the_file(tmp_path: Path) -> None:
    town = load(tmp_path, house())
    assert [str(address) for address in town.addresses] == [
        "House",
        "House:kitchen",
        "House:kitchen:stove",
        "House:study",
        "House:study:desk",
    ]
    assert (town.name, town.title, town.width, town.height) == ("small", "small", 9, 6)


def test_a_title_is_a_property_of_the_map(tmp_path: Path) -> None:
    drawing = house() | {"properties": [{"name": "title", "type": "string", "value": "Little  Town "}]}
    assert load(tmp_path, drawing).title == "Little Town"


def test_an_object_has_its_properties_or_sensible_ones(tmp_path: Path) -> None:
    town = load(
        tmp_path, house(objects=[shape("stove", 2, 2, idle="off", affords="cooking", capacity=2), shape("desk", 5, 2)])
    )
    stove, desk = town.things()
    assert (stove.idle_state, stove.affords, stove.capacity) == ("off", "cooking", 2)
    assert (desk.idle_state, desk.affords, desk.capacity) == ("idle", "using the desk", 1)


def test_one_stands_on_an_object_that_can_be_walked_on(tmp_path: Path) -> None:
    stove = load(tmp_path, house()).thing(STOVE)
    assert stove.tiles == stove.stand == (Tile(2, 2),)


def test_one_stands_beside_an_object_that_blocks_and_never_behind_a_wall(tmp_path: Path) -> None:
    plan = ".........\n.#######.\n.##.#..#.\n.#..#..#.\n.##.##.#.\n........."
    drawing = house()
    layer(drawing, "collision")["data"] = [int(sign == "#") for row in plan.split() for sign in row]
    assert load(tmp_path, drawing).thing(STOVE).stand == (Tile(2, 3), Tile(3, 2))


def test_nobody_uses_an_object_from_a_doorway_if_there_is_room_inside(tmp_path: Path) -> None:
    drawing = house(objects=[shape("stove", 3, 3)])
    layer(drawing, "collision")["data"][3 * 9 + 3] = 1
    layer(drawing, "collision")["data"][4 * 9 + 2] = 0
    assert load(tmp_path, drawing).thing(STOVE).stand == (Tile(2, 3), Tile(3, 2))


def test_a_doorway_belongs_to_the_room_behind_it_but_not_to_its_floor(tmp_path: Path) -> None:
    kitchen = load(tmp_path, house()).arena(KITCHEN)
    assert Tile(3, 4) in kitchen.tiles
    assert kitchen.floor == {Tile(2, 2), Tile(3, 2), Tile(2, 3), Tile(3, 3)}


def test_outside_every_arena_is_outdoors(tmp_path: Path) -> None:
    town = load(tmp_path, house())
    assert town.arena_at(Tile(0, 0)) is None
    assert str(town.where(Tile(0, 0))) == "outdoors"
    assert town.where(Tile(2, 2)) == KITCHEN


def test_norms_are_read(tmp_path: Path) -> None:
    norms = {"note": "Guests are welcome.", "open": "8:00", "close": "24:00", "capacity": 3}
    arenas = [shape("kitchen", 2, 2, 2, 2, private_to=" Ann Lee;  Bo  Ek,", **norms), shape("study", 5, 2, 2, 2)]
    kitchen, study = load(tmp_path, house(arenas=arenas)).arenas()
    assert (kitchen.note, kitchen.hours, kitchen.capacity) == ("Guests are welcome.", (28800, 86400), 3)
    assert kitchen.private_to == ("Ann Lee", "Bo Ek")
    assert (study.note, study.hours, study.capacity, study.private_to) == ("", None, None, ())


def test_an_arena_may_hold_nothing_and_a_room_may_be_a_polygon(tmp_path: Path) -> None:
    corner = [{"x": 0, "y": 0}, {"x": 32, "y": 0}, {"x": 32, "y": 32}, {"x": 0, "y": 32}]
    town = load(tmp_path, house(arenas=[shape("kitchen", 2, 2, 0, 0, polygon=corner)], objects=[]))
    assert [arena.things for arena in town.arenas()] == [()]
    assert len(town.arena(KITCHEN).floor) == 4


def test_names_keep_accents_and_any_script_in_one_form(tmp_path: Path) -> None:
    decomposed = "cafe\u0301"
    town = load(tmp_path, house(arenas=[shape(decomposed, 2, 2, 2, 2)], objects=[shape(" 咖啡机 ", 2, 2)]))
    assert [str(thing.address) for thing in town.things()] == ["House:caf\u00e9:咖啡机"]


def test_spawns_are_named_tiles(tmp_path: Path) -> None:
    town = load(tmp_path, house(spawns=[shape("gate", 8, 5, 0, 0, point=True)]))
    assert dict(town.spawns) == {"gate": Tile(8, 5)}


def test_the_same_file_gives_the_same_town(tmp_path: Path) -> None:
    path = save(tmp_path, house())
    one, two = load_town(path), load_town(path)
    assert one.sectors == two.sectors
    assert one.addresses == two.addresses


# Faults: what is wrong, where, and what to do in Tiled

ROOM = shape("kitchen", 2, 2, 2, 2)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        pytest.param(
            {"sectors": []},
            "layer 'sectors': the map has no sector. Draw a rectangle around each building",
            id="no sector",
        ),
        pytest.param(
            {"sectors": [shape("House", 1, 1, 7, 4), shape("Barn", 7, 1, 2, 4)]},
            "layer 'sectors', object 'Barn' (id 2): it overlaps 'House' at column 7, row 1. "
            "Draw the two beside each other in Tiled",
            id="sectors overlap",
        ),
        pytest.param(
            {"sectors": [shape("Outdoors", 1, 1, 7, 4)]},
            "layer 'sectors', object 'Outdoors' (id 1): this name means the open ground. "
            "Give the sector another name in Tiled",
            id="reserved name",
        ),
        pytest.param(
            {"sectors": [shape("House", 20, 20, 7, 4)]},
            "layer 'sectors', object 'House' (id 1): it lies beside the map. "
            "Move it onto the map in Tiled, or delete it",
            id="beside the map",
        ),
        pytest.param(
            {"arenas": [shape("yard", 0, 5)]},
            "layer 'arenas', object 'yard' (id 2): it lies in no sector. Draw a sector around it in layer 'sectors'",
            id="arena in no sector",
        ),
        pytest.param(
            {"arenas": [shape("kitchen", 2, 2, 2, 4)]},
            "layer 'arenas', object 'kitchen' (id 2): it reaches beyond sector 'House'. "
            "Make the arena smaller or the sector larger in Tiled",
            id="arena reaches out",
        ),
        pytest.param(
            {"arenas": [ROOM, shape("study", 3, 2, 2, 2)]},
            "layer 'arenas', object 'study' (id 3): it overlaps 'House:kitchen' at column 3, row 2. "
            "Draw the two beside each other in Tiled",
            id="arenas overlap",
        ),
        pytest.param(
            {"arenas": [ROOM, shape(" Kitchen ", 5, 2, 2, 2)]},
            "layer 'arenas', object 'Kitchen' (id 3): the address 'House:Kitchen' is taken. "
            "Rename one of the two in Tiled",
            id="arena twice",
        ),
        pytest.param(
            {"arenas": [shape("cellar", 1, 1)]},
            "layer 'arenas', object 'cellar' (id 2): nobody can get there: no walkable tile of it is joined to "
            "the rest of the map. Erase a doorway into it from layer 'collision'",
            id="arena all wall",
        ),
        pytest.param(
            {"objects": [shape("bed", 0, 0)]},
            "layer 'objects', object 'bed' (id 4): it lies in no arena. Draw an arena around it in layer 'arenas'",
            id="object in no arena",
        ),
        pytest.param(
            {"objects": [shape("table", 3, 2, 3, 1)]},
            "layer 'objects', object 'table' (id 4): it reaches beyond arena 'House:kitchen'. "
            "Move the object wholly into one arena in Tiled",
            id="object in two arenas",
        ),
        pytest.param(
            {"objects": [shape("desk", 5, 2), shape("  desk", 6, 2)]},
            "layer 'objects', object 'desk' (id 5): the address 'House:study:desk' is taken. "
            "Rename one of the two in Tiled",
            id="object twice",
        ),
        pytest.param(
            {"objects": [shape("", 2, 2)]},
            "layer 'objects', object '' (id 4): it has no name. Name it in Tiled",
            id="no name",
        ),
        pytest.param(
            {"objects": [shape("a:b", 2, 2)]},
            "layer 'objects', object 'a:b' (id 4): its name holds a ':', which parts addresses. Rename it in Tiled",
            id="colon",
        ),
        pytest.param(
            {"objects": [shape("x" * 61, 2, 2)]},
            f"layer 'objects', object '{'x' * 61}' (id 4): its name is no printable text of up to 60 characters. "
            "Rename it in Tiled",
            id="long name",
        ),
        pytest.param(
            {"objects": [shape("desk", 5, 2, afords="writing")]},
            "layer 'objects', object 'desk' (id 4): the property 'afords' is unknown. Did you mean 'affords'?",
            id="unknown property",
        ),
        pytest.param(
            {"objects": [shape("desk", 5, 2, capacity="2")]},
            "layer 'objects', object 'desk' (id 4): the property 'capacity' is no whole number from 1 up. "
            "Remove it and add it again with type int in Tiled",
            id="capacity as text",
        ),
        pytest.param(
            {"objects": [shape("desk", 5, 2, capacity=True)]},
            "layer 'objects', object 'desk' (id 4): the property 'capacity' is no whole number from 1 up. "
            "Remove it and add it again with type int in Tiled",
            id="capacity as yes",
        ),
        pytest.param(
            {"objects": [shape("desk", 5, 2, idle=" ")]},
            "layer 'objects', object 'desk' (id 4): the property 'idle' is no text of 1 to 200 characters. "
            "Write it again in Tiled, or remove it",
            id="empty text",
        ),
        pytest.param(
            {"arenas": [shape("kitchen", 2, 2, 2, 2, open="08:00")]},
            "layer 'arenas', object 'kitchen' (id 2): it has only one of 'open' and 'close'. "
            "Add the other property in Tiled",
            id="no closing time",
        ),
        pytest.param(
            {"arenas": [shape("kitchen", 2, 2, 2, 2, open="8 am", close="20:00")]},
            "layer 'arenas', object 'kitchen' (id 2): '8 am' is no time of day. Write it as 06:00",
            id="no time",
        ),
        pytest.param(
            {"spawns": [shape("gate", 1, 1, 0, 0)]},
            "layer 'spawns', object 'gate' (id 6): nobody can walk from there. Move it to open ground in Tiled",
            id="spawn in a wall",
        ),
    ],
)
def test_a_drawing_that_is_no_town_is_refused(tmp_path: Path, parts: dict[str, list[Drawing]], sentence: str) -> None:
    assert fault(tmp_path, json.loads(json.dumps(house(**parts)))) == f"map 'small.tmj', {sentence}"


def test_a_room_without_a_door_is_refused(tmp_path: Path) -> None:
    drawing = house()
    layer(drawing, "collision")["data"][4 * 9 + 3] = 1
    assert fault(tmp_path, drawing) == (
        "map 'small.tmj', layer 'arenas', object 'kitchen' (id 2): nobody can get there: no walkable tile of it is "
        "joined to the rest of the map. Erase a doorway into it from layer 'collision'"
    )


def test_an_object_that_nobody_can_reach_is_refused(tmp_path: Path) -> None:
    plan = "....\n.##.\n.##.\n...."
    parts = {"sectors": [shape("House", 0, 0, 4, 4)], "arenas": [shape("cellar", 1, 1, 3, 3)]}
    assert load(tmp_path, draw(plan, **parts, objects=[shape("safe", 2, 2)])).things()
    parts = {"sectors": [shape("House", 0, 0, 3, 3)], "arenas": [shape("cellar", 0, 0, 3, 3)]}
    assert fault(tmp_path, draw(plan, **parts, objects=[shape("safe", 2, 2)])) == (
        "map 'small.tmj', layer 'objects', object 'safe' (id 3): nobody can reach it: no walkable tile of "
        "'House:cellar' touches it. Erase a tile beside it from layer 'collision', or move it"
    )


@pytest.mark.parametrize("name", ["sectors", "arenas", "objects"])
def test_a_missing_object_layer_is_named(tmp_path: Path, name: str) -> None:
    drawing = house()
    layer(drawing, name)["name"] = f"My {name}"
    assert fault(tmp_path, drawing) == (
        f"map 'small.tmj': the object layer '{name}' is missing. Rename layer 'My {name}' to it in Tiled"
    )


def test_a_missing_collision_layer_is_named(tmp_path: Path) -> None:
    drawing = house()
    drawing["layers"] = [part for part in drawing["layers"] if part["name"] != "collision"]
    assert fault(tmp_path, drawing) == (
        "map 'small.tmj': the tile layer 'collision' is missing. Add it in Tiled; maps/README.md says what goes there"
    )


def test_a_map_where_nobody_can_walk_is_refused(tmp_path: Path) -> None:
    assert fault(tmp_path, draw("##\n##", sectors=[shape("House", 0, 0, 2, 2)])) == (
        "map 'small.tmj', layer 'collision': every tile is blocked. Erase tiles where one can walk"
    )


def test_maps_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    assert find_map("hobbs").name == "hobbs.tmj"
    path = save(tmp_path, house())
    assert find_map(path) == path
    assert Town.load(path).name == "small"
    with pytest.raises(MapError, match=r"there is no map 'hobs'\. Did you mean 'hobbs'\?"):
        find_map("hobs")
    with pytest.raises(MapError, match=r"there is no map '\.\./pyproject'\. Known maps: hobbs"):
        find_map("../pyproject")
