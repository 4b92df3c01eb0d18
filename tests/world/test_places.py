"""Addresses, the town's tree, and the part of it that one agent knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localville.errors import InputError
from localville.world.places import Address, PlaceTree, Town

TOWN = Town.load("hobbs")
COFFEE = Address("Hobbs Cafe", "cafe", "coffee machine")
addresses = st.lists(st.sampled_from(TOWN.addresses), max_size=8)


@given(st.sampled_from(TOWN.addresses))
def test_an_address_reads_back_what_it_prints(address: Address) -> None:
    assert Address.parse(str(address)) == address
    assert TOWN.find(str(address)) == address


def test_an_address_names_its_parts() -> None:
    assert str(COFFEE) == "Hobbs Cafe:cafe:coffee machine"
    assert COFFEE.name == "coffee machine"
    assert COFFEE.parent == Address("Hobbs Cafe", "cafe")
    assert COFFEE.parent.parent == Address("Hobbs Cafe")
    assert Address("Hobbs Cafe").parent is None
    assert Address.parse(" Hobbs Cafe : cafe ") == Address("Hobbs Cafe", "cafe")


def test_a_place_lies_in_itself_and_in_what_holds_it() -> None:
    assert COFFEE.within(Address("Hobbs Cafe"))
    assert COFFEE.within(COFFEE)
    assert not Address("Hobbs Cafe").within(COFFEE)
    assert not Address("Hobbs Cafe 2", "cafe").within(Address("Hobbs Cafe"))


@pytest.mark.parametrize("text", ["", ":", "a:", "a::b", "a:b:c:d"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is no address\. Write it as 'sector:arena:object', or less of it"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("coffee machine", "Hobbs Cafe:cafe:coffee machine"),
        ("HOBBS  cafe", "Hobbs Cafe"),
        ("maria lopez’s room: bed", "Dorm:Maria Lopez's room:bed"),
        ("<Isabella's apartment: kitchen: stove>", "Isabella's apartment:kitchen:stove"),
        ("Klaus Mueller's room", "Dorm:Klaus Mueller's room"),
    ],
)
def test_a_place_is_found_as_people_write_it(text: str, address: str) -> None:
    assert str(TOWN.find(text)) == address


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Hobs Cafe", "there is no place 'Hobs Cafe' on map 'hobbs'. Did you mean 'Hobbs Cafe'?"),
        (
            "Dorm:Klaus Müller's room",
            "there is no place 'Dorm:Klaus Müller's room' on map 'hobbs'. Did you mean 'Dorm:Klaus Mueller's room'?",
        ),
        (
            "cofee machine",
            "there is no place 'cofee machine' on map 'hobbs'. Did you mean 'Hobbs Cafe:cafe:coffee machine'?",
        ),
        (
            "bed",
            "'bed' names 3 places on map 'hobbs'. Say which: 'Dorm:Maria Lopez's room:bed', "
            "'Dorm:Klaus Mueller's room:bed', 'Isabella's apartment:bedroom:bed'",
        ),
        (
            "zzz",
            "there is no place 'zzz' on map 'hobbs'. "
            "The sectors are: Hobbs Cafe, Dorm, Isabella's apartment, Park, Library",
        ),
        ("::", "'::' is no address. Write it as 'sector:arena:object', or less of it"),
    ],
)
def test_a_place_that_is_not_found_comes_with_the_nearest(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        TOWN.find(text)
    assert str(caught.value) == sentence


def test_look_ups_refuse_an_address_of_another_kind() -> None:
    assert TOWN.thing(COFFEE).affords == "making coffee"
    assert TOWN.arena(COFFEE).name == "cafe"
    assert TOWN.sector(COFFEE).name == "Hobbs Cafe"
    with pytest.raises(InputError, match="there is no place 'Hobbs Cafe'"):
        TOWN.arena(Address("Hobbs Cafe"))
    with pytest.raises(InputError, match="there is no place 'Hobbs Cafe:cafe'"):
        TOWN.thing(Address("Hobbs Cafe", "cafe"))
    with pytest.raises(InputError, match="Did you mean 'Park'"):
        TOWN.sector(Address("Parc"))


def test_inside_is_a_place_and_all_it_holds() -> None:
    for address in TOWN.addresses:
        assert TOWN.inside(address) == tuple(other for other in TOWN.addresses if other.within(address))


# The place tree


@given(addresses, addresses)
def test_learning_is_the_same_in_any_order(first: list[Address], second: list[Address]) -> None:
    tree = PlaceTree(TOWN).learn(first).learn(second)
    assert tree == PlaceTree(TOWN).learn(second + first)
    assert list(tree.known) == sorted(tree.known, key=TOWN.rank)


@given(addresses)
def test_whoever_knows_a_place_knows_what_holds_it(learnt: list[Address]) -> None:
    tree = PlaceTree(TOWN).learn(learnt)
    assert all(tree.knows(address) for address in learnt)
    assert all(address.parent is None or tree.knows(address.parent) for address in tree.known)


@given(addresses)
def test_a_tree_reads_back_what_it_writes(learnt: list[Address]) -> None:
    tree = PlaceTree(TOWN).learn(learnt)
    assert PlaceTree.from_json(TOWN, json.loads(json.dumps(tree.to_json()))) == tree


def test_what_was_seen_of_a_state_stays_until_it_is_seen_otherwise() -> None:
    tree = PlaceTree(TOWN).learn([COFFEE])
    burning = tree.see({COFFEE: "burning"})
    assert (tree.state(COFFEE), burning.state(COFFEE)) == (None, "burning")
    assert burning.see({}) is burning and burning.learn([Address("Park")]).state(COFFEE) == "burning"
    assert burning.see({COFFEE: None}) == tree
    assert PlaceTree.from_json(TOWN, json.loads(json.dumps(burning.to_json()))) == burning


@given(addresses)
def test_nothing_new_leaves_the_very_same_tree(learnt: list[Address]) -> None:
    tree = PlaceTree(TOWN).learn(learnt)
    assert tree.learn(learnt) is tree
    assert tree.learn([]) is tree


@given(addresses)
def test_the_levels_of_a_tree_are_all_of_it(learnt: list[Address]) -> None:
    tree = PlaceTree(TOWN).learn(learnt)
    walked = []
    for sector in tree.sectors():
        walked.append(Address(sector))
        for arena in tree.arenas(sector):
            walked.append(Address(sector, arena))
            walked += [Address(sector, arena, thing) for thing in tree.objects(sector, arena)]
    assert tuple(walked) == tree.known


def test_an_empty_tree_knows_nothing() -> None:
    tree = PlaceTree(TOWN)
    assert (tree.sectors(), tree.arenas("Dorm"), tree.objects("Dorm", "bathroom")) == ((), (), ())
    assert not tree.knows(COFFEE)


def test_a_place_that_is_not_on_the_map_cannot_be_learnt() -> None:
    with pytest.raises(InputError, match="Did you mean 'Library'"):
        PlaceTree(TOWN).learn([Address("Libary")])
    with pytest.raises(InputError, match="there is no place 'Mars'"):
        PlaceTree.from_json(TOWN, {"known": ["Mars"], "states": {}})


def test_trees_of_two_readings_of_one_map_are_equal(tmp_path: Path) -> None:
    assert PlaceTree.from_json(Town.load("hobbs"), {"known": ["Park"], "states": {}}) == PlaceTree(TOWN).learn(
        [Address("Park")]
    )
