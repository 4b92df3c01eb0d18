"""Plans hold by construction: whatever a model answers, days are covered, hours are filled, nights follow days."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from localville.clock import DAY, HOUR, MINUTE, format_clock, parse_clock
from localville.config import Persona
from localville.errors import PersonaError
from localville.llm.engine import Choose, Write
from localville.llm.grammars import PlannedChunk, parse_day_plan
from localville.llm.scripted import ScriptedEngine
from localville.mind.plan import (
    WAKE_STEP,
    WAKE_STEPS,
    bed_time,
    check_day,
    chunk_at,
    day_plan,
    next_actions,
    next_hours,
    opening_hours,
    wake_hour,
)
from localville.mind.thought import Recall
from localville.world.places import Town
from tests.mind.driving import asks, think, view_of, wild
from tests.people import somebody

CLOCKS = st.integers(0, DAY // MINUTE).map(lambda minute: format_clock(minute * MINUTE))
SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
FIVE_MINUTES = 5 * MINUTE


def lives_by_day(wake: str, sleep: str) -> Persona:
    """A person of these habits; those whose day cannot be planned do not count."""
    person = somebody(wake=wake, sleep=sleep)
    try:
        check_day(person)
    except PersonaError:
        assume(False)
    return person


class TestHabits:
    def test_bed_time_is_the_habit(self):
        assert bed_time(somebody(sleep="22:30")) == parse_clock("22:30")

    @pytest.mark.parametrize("sleep", ["00:00", "01:30", "24:00"])
    def test_after_midnight_counts_as_midnight(self, sleep):
        assert bed_time(somebody(sleep=sleep)) == DAY

    @pytest.mark.parametrize(("wake", "sleep"), [("07:00", "08:00"), ("22:00", "06:00"), ("07:00", "12:29")])
    def test_a_day_too_short_to_plan_is_refused_and_says_whose(self, wake, sleep):
        with pytest.raises(PersonaError, match=r"persona 'Ada Lovelace': .*too short.* 5\.5 hours"):
            check_day(somebody(wake=wake, sleep=sleep))

    def test_the_shortest_day_is_accepted(self):
        check_day(somebody(wake="07:00", sleep="12:30"))


class TestWaking:
    @FEW
    @given(CLOCKS, CLOCKS, SEEDS)
    def test_people_get_up_near_their_habit_and_early_enough_for_a_day(self, wake, sleep, seed):
        person = lives_by_day(wake, sleep)
        at, _ = think(wake_hour(view_of(person, clock="00:00")), wild(), seed)
        assert abs(at - parse_clock(wake)) <= WAKE_STEPS * WAKE_STEP
        assert 0 <= at <= bed_time(person) - 4 * HOUR

    def test_the_options_are_times_and_the_habit_is_the_likeliest(self):
        (ask,) = asks(think(wake_hour(view_of(clock="00:00")))[1])
        assert isinstance(ask.form, Choose)
        assert [option.strip() for option in ask.form.options] == [
            "05:30", "06:00", "06:30", "07:00", "07:30", "08:00", "08:30"
        ]  # fmt: skip
        assert ask.form.prior is not None
        assert max(ask.form.prior) == ask.form.prior[3]

    def test_who_goes_to_bed_at_midnight_does_not_get_up_then(self):
        person = somebody(wake="00:30", sleep="24:00")
        assert all(think(wake_hour(view_of(person, clock="00:00")), wild(), seed)[0] > 0 for seed in range(20))


class TestDay:
    @FEW
    @given(CLOCKS, CLOCKS, st.integers(0, 2 * HOUR // MINUTE), SEEDS)
    def test_it_is_covered_from_getting_up_to_bed_time_without_gap_or_overlap(self, wake, sleep, late, seed):
        person = lives_by_day(wake, sleep)
        now = parse_clock(wake) + late * MINUTE
        assume(now < bed_time(person) - HOUR)
        view = view_of(person, clock=format_clock(now))
        plan, _ = think(day_plan(view), wild(), seed)
        assert plan[0].start == now - now % FIVE_MINUTES
        assert plan[-1].end == bed_time(person)
        assert all(one.end == other.start for one, other in itertools.pairwise(plan))
        assert all(chunk.end - chunk.start >= 30 * MINUTE for chunk in plan)
        assert all(chunk.activity.strip() for chunk in plan)
        assert {chunk.place for chunk in plan} <= set(view.tree.sectors())

    @pytest.mark.parametrize("seed", range(10))
    def test_a_whole_day_has_the_papers_5_to_8_chunks(self, seed):
        plan, _ = think(day_plan(view_of(clock="06:30")), wild(), seed)
        assert 5 <= len(plan) <= 8

    def test_it_begins_at_home(self):
        assert {think(day_plan(view_of()), wild(), seed)[0][0].place for seed in range(8)} == {"House"}

    def test_places_it_does_not_know_are_no_options(self):
        ask, *drafts = asks(think(day_plan(view_of()))[1])
        assert drafts == [ask, ask]
        assert isinstance(ask.form, Write)
        assert "Cafe" in ask.form.grammar.gbnf
        assert "Lawn" not in ask.form.grammar.gbnf

    def test_memories_about_the_day_are_recalled_once_and_read(self):
        _, wanted = think(day_plan(view_of()))
        assert [request for request in wanted if isinstance(request, Recall)] == wanted[:1]
        assert "Ada Lovelace promised to write to Charles" in asks(wanted)[0].prompt.text()

    def test_of_the_drafts_the_one_is_taken_that_keeps_the_habits_and_repeats_itself_least(self):
        texts = [
            "07:00-11:00 House: lie in bed\n11:00-15:00 Cafe: lie in bed\n15:00-19:00 Cafe: lie in bed\n"
            "19:00-21:00 House: lie in bed\n21:00-23:00 House: lie in bed\n\n",
            "07:00-11:00 House: gets up and eat\n11:00-15:00 Cafe: works in the cafe\n15:00-19:00 Cafe: read the news\n"
            "19:00-21:00 House: cook dinner\n21:00-23:00 House: goes to bed\n\n",
            "07:00-11:00 House: swim and dive\n11:00-15:00 Cafe: paint a wall\n15:00-19:00 Cafe: climb a tree\n"
            "19:00-21:00 House: feed the horse\n21:00-23:00 House: sing a song\n\n",
        ]
        left = iter(texts)
        engine = ScriptedEngine({"plan.day": lambda ask, seed: next(left)})
        assert think(day_plan(view_of()), engine)[0] == parse_day_plan(texts[1])

    def test_tomorrows_party_is_told_as_tomorrows(self):
        person = somebody(concern="Ada Lovelace gives a party on 14 February 2023 at 5")
        view = view_of(person)
        assert "gives a party tomorrow (14 February 2023) at 5" in asks(think(day_plan(view))[1])[0].prompt.text()

    def test_the_most_stable_parts_of_the_question_come_first(self):
        ask, *drafts = asks(think(day_plan(view_of()))[1])
        assert drafts == [ask, ask]
        rank = {"town": 0, "persona": 1, "task": 2, "situation": 3}
        ranks = [rank[part.name] for part in ask.prompt.parts]
        assert ranks == sorted(ranks)


class TestChunks:
    PLAN = (PlannedChunk(7 * HOUR, 8 * HOUR, "eat", "House"), PlannedChunk(8 * HOUR, 9 * HOUR, "work", "Cafe"))

    def test_a_boundary_belongs_to_what_begins(self):
        assert chunk_at(self.PLAN, 8 * HOUR) is self.PLAN[1]

    def test_before_and_after_there_is_none(self):
        assert chunk_at(self.PLAN, 7 * HOUR - 1) is None
        assert chunk_at(self.PLAN, 9 * HOUR) is None
        assert chunk_at((), 8 * HOUR) is None


class TestHour:
    @FEW
    @given(st.integers(7 * 60 * 60, 22 * 60 * 60), SEEDS)
    def test_actions_of_5_10_or_15_minutes_fill_the_rest_of_the_hour(self, second, seed):
        plan = (PlannedChunk(7 * HOUR, 12 * HOUR + 30 * MINUTE, "work", "Cafe"),)
        plan += (PlannedChunk(plan[0].end, 22 * HOUR + FIVE_MINUTES, "rest", "House"),)
        view = view_of(day_plan=plan, clock="00:00")
        view = dataclasses.replace(view, now=view.now + second)
        hours, _ = think(next_hours(view), wild(), seed)
        assert {hour.place for hour in hours} == {chunk_at(plan, second).place}  # type: ignore[union-attr]
        assert hours[-1].end == chunk_at(plan, second).end  # type: ignore[union-attr]
        actions, _ = think(next_actions(dataclasses.replace(view, hours=hours)), wild(), seed)
        chunk = chunk_at(hours, second)
        assert chunk is not None
        start = second - second % FIVE_MINUTES
        assert actions[0].start == start
        assert all(a.start + a.minutes * MINUTE == b.start for a, b in itertools.pairwise(actions))
        assert actions[-1].start + actions[-1].minutes * MINUTE == chunk.end
        assert {action.minutes for action in actions} <= {5, 10, 15}
        assert all(action.text.strip() for action in actions)

    @pytest.mark.parametrize("sleep", ["22:05", "22:59", "22:30", "23:01"])
    def test_any_bed_time_can_be_reached(self, sleep):
        person = somebody(sleep=sleep)
        plan, _ = think(day_plan(view_of(person)), wild())
        last = format_clock(bed_time(person) - FIVE_MINUTES)
        hours, wanted = think(next_hours(view_of(person, clock=last, day_plan=plan)), wild())
        assert wanted == []  # five minutes need not be split into hours
        actions, _ = think(next_actions(view_of(person, clock=last, hours=hours)), wild())
        assert actions[-1].start + actions[-1].minutes * MINUTE == bed_time(person)

    def test_what_was_just_done_is_told(self):
        plan = (PlannedChunk(7 * HOUR, 12 * HOUR, "work", "Cafe"),)
        done = ((6 * HOUR, "yawning"), (7 * HOUR, "making tea"))
        _, wanted = think(next_actions(view_of(hours=plan, done_today=done, clock="07:30")))
        assert "making tea" in asks(wanted)[0].prompt.text()


def test_a_workplace_is_open_to_whoever_works_there() -> None:
    town = Town.load("hobbs")
    guest, host = somebody(workplace=None), somebody(workplace="Hobbs Cafe")
    assert opening_hours(town, guest)["Hobbs Cafe"] == (8 * HOUR, 20 * HOUR)
    assert "Hobbs Cafe" not in opening_hours(town, host)
    assert "Dorm" not in opening_hours(town, guest)
