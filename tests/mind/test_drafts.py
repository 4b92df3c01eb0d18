"""What is silly in a day can be told without a model."""

from __future__ import annotations

import pytest

from localville.clock import HOUR
from localville.llm.grammars import PlannedChunk
from localville.mind.drafts import absence, best_draft, faults_of, oddities
from tests.mind.driving import think
from tests.people import somebody

PLACES = ("House", "Hobbs Cafe", "Park")


def day(*lines: str) -> tuple[PlannedChunk, ...]:
    """Lines like ``House: have breakfast``, an hour each from seven."""
    parts = [line.partition(": ") for line in lines]
    return tuple(PlannedChunk((7 + n) * HOUR, (8 + n) * HOUR, text, place) for n, (place, _, text) in enumerate(parts))


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        (("House: have breakfast", "Hobbs Cafe: serve the guests", "Park: take a walk"), 0),
        (("House: have breakfast", "House: go to the park"), 1),
        (("House: have breakfast", "Park: sit in the Park"), 0),
        (("House: write a letter", "Hobbs Cafe: write a letter"), 1),
        (("House: have breakfast", "Hobbs Cafe: sell coffee and have breakfast"), 2),
        (("House: have lunch", "Park: eat some lunch outside", "Hobbs Cafe: eat one more lunch"), 4),
        (("House: get up, have breakfast", "Hobbs Cafe: serve breakfast and lunch"), 0),
        (("House: have breakfast", "Hobbs Cafe: clean up, have breakfast"), 2),
    ],
)
def test_faults_are_repeats_other_places_and_second_meals(lines: tuple[str, ...], faults: int) -> None:
    assert think(faults_of(day(*lines), PLACES))[0] == faults


def test_of_equals_the_one_like_the_habits_is_taken_then_the_first() -> None:
    person = somebody(lifestyle="Ada gets up at 7, works in the cafe and walks in the park")
    plain = day("House: sing a song", "Hobbs Cafe: dance")
    own = day("House: gets up at 7", "Hobbs Cafe: works in the cafe")
    assert think(best_draft([plain, own], person, PLACES, "House", {}))[0] is own
    assert think(best_draft([own, own], person, PLACES, "House", {}))[0] is own
    assert think(best_draft([plain], person, PLACES, "House", {})) == (plain, [])


def test_hours_of_work_spent_elsewhere_count_beyond_lunch() -> None:
    person = somebody(works="08:00-12:00", workplace="Hobbs Cafe")
    at_work = day("House: have breakfast", *["Hobbs Cafe: serve the guests"] * 4)
    assert absence(at_work, person) == 0
    assert absence(day("House: rest", "House: rest", *["Hobbs Cafe: serve the guests"] * 3), person) == 0
    assert absence(day(*["House: rest"] * 5), person) == 3
    assert absence(day(*["House: rest"] * 5), somebody()) == 0
    lazy = day("House: have breakfast", "Park: sleep", "Park: walk", "Park: look around", "Park: sing")
    assert think(best_draft([lazy, at_work], person, PLACES, "House", {}))[0] is at_work


@pytest.mark.parametrize(
    ("lines", "odd"),
    [
        (("House: have breakfast", "Park: walk", "House: rest"), 0),
        (("House: get up", "Hobbs Cafe: have lunch", "House: rest"), 1),  # at eight
        (("House: get up", "Hobbs Cafe: serve lunch", "House: rest"), 0),
        (("House: get up", "Park: take a nap", "House: take a nap"), 1),
        (("House: get up", "Park: walk"), 1),
        (("Hobbs Cafe: clean up", "House: rest"), 1),  # at seven, and it opens at eight
    ],
)
def test_what_people_do_not_do_with_a_day_is_odd(lines: tuple[str, ...], odd: int) -> None:
    assert oddities(day(*lines), "House", {"Hobbs Cafe": (8 * HOUR, 20 * HOUR)}) == odd
