"""Grounding: every action gets an object its agent knows, a state for it, and one whole emoji."""

from __future__ import annotations

import dataclasses
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.config import find_scenario, load_cast
from localville.llm.engine import Choose
from localville.mind.emoji import EMOJI, SLEEP_EMOJI
from localville.mind.ground import (
    SHORTLIST,
    asleep,
    choose_emoji,
    choose_object,
    choose_sector,
    ground,
    known_things,
    object_state,
)
from localville.mind.plan import SLEEPING
from localville.world.places import Address, PlaceTree, Town
from tests.mind.driving import WAYS, asks, think, view_of, wild
from tests.people import somebody, street

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=48)
JOINER, VARIANT = "\u200d", "\ufe0f"
BED = Address("House", "bedroom", "bed")


class TestGround:
    @settings(max_examples=25, deadline=None)
    @given(WORDS, st.sampled_from(["House", "Cafe"]), st.integers(0, 999), st.sampled_from(WAYS))
    def test_whatever_is_done_the_object_is_one_the_agent_knows(self, text, sector, seed, ways):
        view = view_of(ways=ways)
        action, _ = think(ground(view, text, sector, 100, 400), wild(), seed)
        assert action.address.sector == sector
        assert action.address.object in view.tree.objects(sector, action.address.arena)
        assert (action.text, action.start, action.end) == (text, 100, 400)
        assert action.object_state.strip() == action.object_state != ""
        assert action.emoji in EMOJI

    @pytest.mark.parametrize(
        "text",
        ["going to the Cafe", "walking over to the cafe", "going back to the CAFE on the lawn", "leaving for Cafe"],
    )
    def test_a_place_that_is_named_is_put_to_the_model_beside_the_planned_one(self, text):
        _, wanted = think(choose_sector(view_of(), text, "House"))
        (ask,) = asks(wanted)
        assert isinstance(ask.form, Choose)
        assert ask.form.options == (" House", " Cafe")
        assert "Cafe" in ask.prompt.parts[-1].text.splitlines()[0].removeprefix("Ada is at House: ")

    def test_home_is_ones_own(self):
        (ask,) = asks(think(choose_sector(view_of(), "going home", "Cafe"))[1])
        assert isinstance(ask.form, Choose)
        assert ask.form.options == (" Cafe", " House")
        assert think(choose_sector(view_of(), "coming home", "House")) == ("House", [])

    @pytest.mark.parametrize("text", ["sweeping the house", "eating cafeteria food", "lying on the lawn", "resting"])
    def test_a_place_that_is_planned_or_not_known_or_not_named_is_no_question(self, text):
        assert think(choose_sector(view_of(), text, "House")) == ("House", [])

    @pytest.mark.parametrize("ways", WAYS)
    @pytest.mark.parametrize("number", range(3))
    def test_the_cast_of_the_cafe_keeps_to_its_own_places(self, number, ways):
        story, file = find_scenario("cafe")
        person, town = load_cast(story, file)[number], Town.load(story.map)
        view = view_of(person, town=town, ways=ways, at=f"{person.home.partition(':')[0]}")
        for seed, sector in enumerate(view.tree.sectors()):
            action, _ = think(ground(view, "having a look around", sector, 0, 300), wild(), seed)
            assert action.address.object in view.tree.objects(sector, action.address.arena)

    def test_at_most_three_objects_are_put_to_the_model_the_likeliest(self):
        _, wanted = think(choose_object(view_of(), "playing a tune at the window", "Cafe"))
        (ask,) = asks(wanted)
        assert isinstance(ask.form, Choose)
        assert len(ask.form.options) == SHORTLIST
        assert ask.form.options[0] in ("Cafe:cafe:piano", "Cafe:cafe:window seat")

    def test_what_is_far_less_alike_is_no_option(self):
        address, wanted = think(choose_object(view_of(), "playing music at the piano", "Cafe"))
        assert (str(address), asks(wanted)) == ("Cafe:cafe:piano", [])

    def test_the_room_one_stands_in_is_preferred(self):
        def bonus(at: str) -> dict[str, float]:
            form = asks(think(choose_object(view_of(at=at), "resting", "House"))[1])[0].form
            assert isinstance(form, Choose)
            return dict(zip(form.options, form.prior or (), strict=True))

        here, there = bonus("House:bedroom"), bonus("House:kitchen")
        assert here["House:bedroom:desk"] > there["House:bedroom:desk"]
        assert here["House:kitchen:stove"] < there["House:kitchen:stove"]

    def test_a_single_object_is_taken_without_a_question(self):
        view = view_of(somebody(known_places=("Lawn",)))
        address, wanted = think(choose_object(view, "resting", "Lawn"))
        assert (str(address), asks(wanted)) == ("Lawn:grass:bench", [])

    def test_of_a_place_known_from_outside_only_all_objects_are_offered(self):
        from_outside = PlaceTree(street()).learn([Address("Cafe")])
        view = dataclasses.replace(view_of(), tree=from_outside)
        assert [thing.name for thing in known_things(view, "Cafe")] == ["counter", "table", "piano", "window seat"]


class TestNight:
    def test_it_is_spent_in_the_own_bed_without_a_question(self):
        action = asleep(view_of(), 0, 100)
        assert (action.text, action.address, action.emoji) == (SLEEPING, BED, SLEEP_EMOJI)


class TestStates:
    @pytest.mark.parametrize("seed", range(20))
    def test_a_state_is_a_few_words_never_nothing(self, seed):
        state, _ = think(object_state(view_of(), "sitting", BED), wild(), seed)
        assert state
        assert "\n" not in state
        assert state == state.strip()


class TestEmoji:
    @settings(max_examples=30, deadline=None)
    @given(WORDS)
    def test_any_activity_has_one(self, text):
        assert think(choose_emoji(text))[0] in EMOJI

    def test_like_words_find_it(self):
        assert think(choose_emoji("playing the piano"))[0] == "🎹"

    @pytest.mark.parametrize("emoji", EMOJI, ids=lambda emoji: "-".join(f"{ord(char):x}" for char in emoji))
    def test_each_is_one_whole_grapheme_cluster(self, emoji):
        """A base, then marks of variation, or a joiner with the next base; never half of a pair, a flag, a digit."""
        assert unicodedata.normalize("NFC", emoji) == emoji
        for piece in emoji.split(JOINER):
            assert unicodedata.category(piece[0]) == "So"
            assert all(char == VARIANT or 0x1F3FB <= ord(char) <= 0x1F3FF for char in piece[1:])
            assert len(piece) <= 3

    def test_meanings_are_each_given_once(self):
        assert len(set(EMOJI.values())) == len(EMOJI)
        assert all(meaning.strip() for meaning in EMOJI.values())
