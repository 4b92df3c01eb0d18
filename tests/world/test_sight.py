"""Sight: the radius and the arena bound it, attention cuts it, and what was just seen is not news."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from localville.world.grid import Tile
from localville.world.places import OUTDOORS, Address, Town
from localville.world.sight import Kind, Percept, fresh, perceive

TOWN = Town.load("hobbs")
CAFE = Address("Hobbs Cafe", "cafe")
COFFEE = Address("Hobbs Cafe", "cafe", "coffee machine")
BARISTA = Tile(4, 3)
"""Behind the counter, before the coffee machine."""


def look(
    tile: Tile = BARISTA,
    others: dict[str, tuple[Tile, str]] | None = None,
    states: dict[Address, str] | None = None,
    *,
    radius: int = 8,
    bandwidth: int = 8,
    asleep: bool = False,
) -> tuple[Percept, ...]:
    return perceive(
        TOWN, "Isabella", tile, others or {}, states or {}, radius=radius, bandwidth=bandwidth, asleep=asleep
    )


def texts(percepts: tuple[Percept, ...]) -> list[str]:
    return [percept.text for percept in percepts]


def test_an_object_is_seen_with_its_state() -> None:
    seen = look(states={COFFEE: "brewing coffee"}, bandwidth=1)
    assert seen == (Percept(Kind.OBJECT, "coffee machine", "coffee machine is brewing coffee", 1, COFFEE),)


def test_an_idle_object_is_seen_and_marked() -> None:
    seen = look(bandwidth=3)
    assert texts(seen) == ["bar sink is off", "coffee machine is off", "counter is clean"]
    assert all(percept.idle for percept in seen)


def test_a_person_is_seen_with_the_activity_and_place() -> None:
    seen = look(others={"Klaus": (Tile(6, 5), "ordering a black coffee")}, bandwidth=1)
    assert seen == (Percept(Kind.PERSON, "Klaus", "Klaus is ordering a black coffee", 2, CAFE),)


def test_people_come_before_objects_and_objects_in_use_before_idle_ones() -> None:
    piano = Address("Hobbs Cafe", "cafe", "piano")
    seen = look(others={"Klaus": (Tile(10, 8), "reading")}, states={piano: "burning"}, bandwidth=3)
    assert texts(seen) == ["Klaus is reading", "piano is burning", "bar sink is off"]


def test_the_nearest_come_first_and_names_settle_ties() -> None:
    others = {"Zoe": (Tile(5, 3), "waiting"), "Bo": (Tile(6, 3), "waiting"), "Ann": (Tile(6, 2), "waiting")}
    assert [percept.subject for percept in look(others=others, bandwidth=3)] == ["Zoe", "Ann", "Bo"]


def test_walls_end_sight() -> None:
    kitchen = Tile(13, 3)
    assert TOWN.where(kitchen) == Address("Hobbs Cafe", "kitchen")
    seen = look(Tile(11, 5), others={"Cook": (kitchen, "baking")})
    assert "Cook is baking" not in texts(seen)
    assert not any(percept.subject == "stove" for percept in seen)


def test_the_radius_is_a_square() -> None:
    here, corner, beyond = Tile(10, 14), Tile(18, 15), Tile(19, 14)
    others = {"Near": (corner, "walking"), "Far": (beyond, "walking")}
    assert [(percept.subject, percept.distance) for percept in look(here, others)] == [("Near", 8)]
    assert texts(look(here, others, radius=7)) == []


def test_the_streets_are_one_place() -> None:
    (seen,) = look(Tile(10, 14), {"Maria": (Tile(8, 13), "walking to the cafe")})
    assert seen.address == OUTDOORS


def test_a_sleeper_perceives_nothing() -> None:
    assert look(others={"Klaus": (Tile(6, 5), "singing")}, asleep=True) == ()


def test_nobody_perceives_themselves() -> None:
    assert "Isabella is working" not in texts(look(others={"Isabella": (BARISTA, "working")}))


def test_no_attention_takes_in_nothing() -> None:
    assert look(bandwidth=0) == ()


cafe_tiles = st.sampled_from([*sorted(TOWN.arena(CAFE).floor), Tile(9, 14), Tile(13, 3)])


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from("ABCDEFGH"), st.tuples(cafe_tiles, st.sampled_from(["reading", "eating"]))),
    st.dictionaries(st.sampled_from([thing.address for thing in TOWN.arena(CAFE).things]), st.just("broken")),
    st.integers(0, 9),
    st.integers(0, 12),
)
def test_a_narrower_attention_sees_the_first_of_what_a_wide_one_sees(
    others: dict[str, tuple[Tile, str]], states: dict[Address, str], radius: int, bandwidth: int
) -> None:
    whole = look(others=others, states=states, radius=radius, bandwidth=100)
    assert (
        look(others=dict(reversed(others.items())), states=states, radius=radius, bandwidth=bandwidth)
        == whole[:bandwidth]
    )
    assert all(percept.distance <= radius for percept in whole)
    in_cafe = {name for name, (tile, _) in others.items() if TOWN.arena_at(tile) is TOWN.arena(CAFE)}
    assert {percept.subject for percept in whole if percept.kind is Kind.PERSON} <= in_cafe


def test_what_was_just_seen_is_not_fresh() -> None:
    seen = look(bandwidth=3)
    assert texts(fresh(seen, ["coffee machine is off"])) == ["bar sink is off", "counter is clean"]


def test_only_the_latest_texts_count() -> None:
    seen = look(bandwidth=1)
    recent = ["bar sink is off", "rain begins", "rain ends"]
    assert fresh(seen, recent, retention=3) == ()
    assert fresh(seen, recent, retention=2) == seen
    assert fresh(seen, recent, retention=0) == seen
