"""Residents: every persona has a home with a bed on the map, and starts with the places it may know."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from localville.assets import personas_dir
from localville.config import Persona
from localville.errors import InputError, PersonaError
from localville.world.places import Address, Town
from localville.world.residents import bed_of, check_resident, home_arenas, starting_tree
from tests.world.drawing import house, load, shape

TOWN = Town.load("hobbs")


def person(name: str = "Klaus Mueller", **places: Any) -> Persona:
    """A persona with these places, set past the validation of texts, which is config's matter."""
    text = dict.fromkeys(("traits", "occupation", "lifestyle", "concern", "memories", "home"), "x")
    persona = Persona.model_validate({"name": name, "age": 20, **text})
    return persona.model_copy(update={"home": "Dorm:Klaus Mueller's room", "workplace": "Library", **places})


def test_a_home_is_a_house_or_a_room_of_one() -> None:
    names = [arena.name for arena in home_arenas(TOWN, "Isabella's apartment")]
    assert names == ["kitchen", "living room", "bedroom", "bathroom"]
    assert [arena.name for arena in home_arenas(TOWN, "dorm: klaus mueller's room")] == ["Klaus Mueller's room"]
    with pytest.raises(InputError, match="is an object, not a home"):
        home_arenas(TOWN, "Dorm:Klaus Mueller's room:desk")


def test_a_resident_has_a_bed() -> None:
    assert str(bed_of(TOWN, "Dorm:Klaus Mueller's room").address) == "Dorm:Klaus Mueller's room:bed"
    assert str(bed_of(TOWN, "Isabella's apartment", "Isabella Rodriguez").address) == "Isabella's apartment:bedroom:bed"


def test_ones_own_room_has_ones_bed(tmp_path: Path) -> None:
    arenas = [shape("guest room", 2, 2, 2, 2), shape("room", 5, 2, 2, 2, private_to="Ann Lee")]
    town = load(
        tmp_path,
        house(
            arenas=arenas,
            objects=[shape("guest bed", 2, 2, affords="sleeping"), shape("futon", 5, 2, affords="sleeping")],
        ),
    )
    assert bed_of(town, "House", "Ann Lee").name == "futon"
    assert bed_of(town, "House", "Bo Ek").name == "guest bed"


def test_a_home_without_a_bed_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        bed_of(TOWN, "Library")
    assert str(caught.value) == (
        "there is no bed in 'Library' on map 'hobbs'. Draw one with affords 'sleeping' in Tiled, or choose another home"
    )
    with pytest.raises(
        PersonaError, match=r"persona 'Klaus Mueller', home: there is no bed for Klaus Mueller in 'Park'"
    ):
        check_resident(TOWN, person(home="Park"))


def test_nobody_sleeps_in_anothers_room() -> None:
    with pytest.raises(PersonaError, match="there is no bed for Klaus Mueller in 'Dorm:Maria Lopez's room'"):
        check_resident(TOWN, person(home="Dorm:Maria Lopez's room"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"home": "Dorm:Klaus Muller's room"},
            "persona 'Klaus Mueller', home: there is no place 'Dorm:Klaus Muller's room' on map 'hobbs'. "
            "Did you mean 'Dorm:Klaus Mueller's room'?",
        ),
        (
            {"home": "Dorm:Klaus Mueller's room:bed"},
            "persona 'Klaus Mueller', home: 'Dorm:Klaus Mueller's room:bed' is an object, not a home. "
            "Write it as 'Dorm:Klaus Mueller's room'",
        ),
        (
            {"workplace": "Libary"},
            "persona 'Klaus Mueller', workplace: there is no place 'Libary' on map 'hobbs'. Did you mean 'Library'?",
        ),
        (
            {"known_places": ("Library", "Prk")},
            "persona 'Klaus Mueller', known_places: there is no place 'Prk' on map 'hobbs'. Did you mean 'Park'?",
        ),
    ],
)
def test_a_place_that_is_not_on_the_map_is_named_with_the_nearest(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PersonaError) as caught:
        check_resident(TOWN, person(**changes))
    assert str(caught.value) == sentence


def test_a_student_knows_the_room_the_shared_rooms_the_workplace_and_the_known_places() -> None:
    tree = starting_tree(TOWN, person(known_places=("Hobbs Cafe:cafe",)))
    assert tree.sectors() == ("Hobbs Cafe", "Dorm", "Library")
    assert tree.arenas("Dorm") == ("Klaus Mueller's room", "bathroom", "common room")
    assert tree.arenas("Hobbs Cafe") == ("cafe",)
    assert tree.objects("Dorm", "Klaus Mueller's room") == ("bed", "desk", "bookshelf", "closet")
    assert not tree.knows(Address("Park"))


def test_an_owner_of_a_house_knows_all_of_it() -> None:
    isabella = person("Isabella Rodriguez", home="Isabella's apartment", workplace="Hobbs Cafe")
    tree = starting_tree(TOWN, isabella)
    assert tree.arenas("Isabella's apartment") == ("kitchen", "living room", "bedroom", "bathroom")
    assert tree.arenas("Hobbs Cafe") == ("cafe", "kitchen")


def test_others_private_rooms_stay_unknown_in_a_known_house() -> None:
    tree = starting_tree(TOWN, person(known_places=("Isabella's apartment", "Dorm")))
    assert tree.arenas("Isabella's apartment") == ()
    assert not tree.knows(Address("Dorm", "Maria Lopez's room"))


def test_the_cast_of_the_cafe_lives_on_its_map() -> None:
    beds = set()
    for file in sorted((personas_dir() / "cafe").glob("*.toml")):
        told = tomllib.loads(file.read_text(encoding="utf-8"))
        persona = person(told["name"], **{key: told[key] for key in ("home", "workplace", "known_places")})
        check_resident(TOWN, persona)
        beds.add(bed_of(TOWN, persona.home, persona.name).address)
    assert len(beds) == 3
