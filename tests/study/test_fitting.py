"""Places: where it cannot be done, after closing, one too many; and all that looks like it and is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from localville.clock import HOUR
from localville.record.alarm import Alarm, AlarmKind
from localville.world.places import OUTDOORS_NAME, Address, Town
from tests.people import somebody, street
from tests.study.made import ADA, BED, BENCH, COUNTER, DESK, PIANO, STOVE, TABLE, ZOE, Days, moment


def told(folder, *doings: tuple[str, str], home: str = "House", town: Town | None = None) -> list[str]:
    """What is said of actions and their places, a quarter of an hour each from eight."""
    days = Days(somebody(ADA, home=home), until="12:00", town=town)
    days.wake(ADA, "07:00")
    for number, (text, place) in enumerate(doings):
        start, end = (f"{8 + (number + i) // 4:02d}:{(number + i) % 4 * 15:02d}" for i in (0, 1))
        days.act(ADA, start, end, text, place)
    return [alarm.text for alarm in days.alarms(folder)]


def with_norms(name: str, **norms: Any) -> Town:
    """The street, with hours or a capacity for one arena."""
    address = Address.parse(name)
    town = street()
    sectors = [
        replace(
            sector,
            arenas=tuple(replace(arena, **norms) if arena.address == address else arena for arena in sector.arenas),
        )
        for sector in town.sectors
    ]
    return replace(town, sectors=tuple(sectors))


class TestMisplaced:
    @pytest.mark.parametrize(
        "text",
        [
            "having lunch at the cafe",
            "Writing letters in the Cafe",
            "opening the cafe",
            "cleaning up the cafe",
            "working at Cafe",
            "sitting quietly inside the cafe and reading",
            "going back to the cafe",
            "walking over to Cafe",
        ],
    )
    def test_what_names_another_sector(self, tmp_path, text):
        assert told(tmp_path, (text, BENCH)) == [f"{ADA} was '{text}' at Lawn: grass, bench, which is not Cafe"]

    @pytest.mark.parametrize(
        "text",
        [
            "reading about the exhibition at the cafe",
            "planning the party at the cafe",
            "thinking of lunch at the cafe",
            "inviting people to the cafe",
            "going through the invitations to the cafe",
            "going to the cafe's owner",
            "opening the cafe's post",
            "opening the cafe menu",
            "working on the plan for the cafe",
            "sitting in the cafeteria",
            "talking with Zoë at the cafe",
        ],
    )
    def test_what_only_speaks_of_it(self, tmp_path, text):
        assert told(tmp_path, (text, BENCH)) == []

    def test_what_is_done_there(self, tmp_path):
        assert told(tmp_path, ("having lunch at the cafe", TABLE), ("opening the cafe", COUNTER)) == []

    @pytest.mark.parametrize("text", ["sleeping on the sofa", "getting out of bed", "going to bed", "falling asleep"])
    def test_bed_away_from_home(self, tmp_path, text):
        assert told(tmp_path, (text, BENCH)) == [f"{ADA} was '{text}' at Lawn: grass, bench, which is not home"]

    @pytest.mark.parametrize(
        ("text", "place", "spoken"),
        [
            ("cooking dinner", DESK, "House: bedroom, desk"),
            ("making breakfast for her guests", DESK, "House: bedroom, desk"),
            ("preparing a lunch", BENCH, "Lawn: grass, bench"),
            ("playing the piano", BENCH, "Lawn: grass, bench"),
            ("getting out of bed", STOVE, "House: kitchen, stove"),
            ("making her bed", STOVE, "House: kitchen, stove"),
        ],
    )
    def test_what_needs_an_object_that_is_not_there(self, tmp_path, text, place, spoken):
        assert told(tmp_path, (text, place)) == [f"{ADA} was '{text}' at {spoken}, where nothing is for that"]

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("cooking dinner", STOVE),
            ("making lunch plans", BENCH),
            ("making dinner reservations", COUNTER),
            ("reading about cooking", BENCH),
            ("getting out of bed", BED),
            ("reading in bed", BED),
            ("going to bed", DESK),
            ("making the flower bed", BENCH),
            ("playing the piano", PIANO),
            ("getting ready for bed", STOVE),
        ],
    )
    def test_what_fits(self, tmp_path, text, place):
        assert told(tmp_path, (text, place)) == []

    def test_whoever_waits_has_a_room_alone_or_the_street(self, tmp_path):
        text = "waiting for the cafe to be free"
        assert told(tmp_path, (text, "House:bedroom"), (text, OUTDOORS_NAME)) == []

    def test_what_the_town_has_nowhere_can_be_done_anywhere(self, tmp_path):
        assert told(tmp_path, ("taking a hot shower", STOVE), ("watching TV", TABLE)) == []

    def test_who_never_arrives_was_not_there(self, tmp_path):
        days = Days(somebody(ADA), until="12:00")
        days.wake(ADA, "07:00")
        days.act(ADA, "08:00", "08:15", "cooking dinner", DESK)
        days.walk(ADA, "08:00", 15)
        assert days.alarms(tmp_path) == []

    def test_a_row_of_them_is_one_alarm(self, tmp_path):
        odd = [("frying eggs", DESK), ("cooking rice", DESK), ("reading", DESK), ("baking a cake", BENCH)]
        assert told(tmp_path, *odd) == [
            f"{ADA} was 'frying eggs' at House: bedroom, desk, where nothing is for that, and 1 more of the kind",
            f"{ADA} was 'baking a cake' at Lawn: grass, bench, where nothing is for that",
        ]


class TestClosed:
    TOWN = with_norms("Lawn:grass", hours=(9 * HOUR, 20 * HOUR))

    def test_a_visit_before_opening(self, tmp_path):
        days = Days(somebody(ADA), until="12:00", town=self.TOWN)
        days.wake(ADA, "07:00")
        days.act(ADA, "08:00", "08:50", "resting", BENCH)
        days.act(ADA, "08:50", "11:00", "reading", BENCH)
        text = f"{ADA} was at Lawn: grass, which is open from 09:00 to 20:00, for 1 h outside of these hours: 'resting'"
        alarm = Alarm(ADA, "", AlarmKind.UNFITTING_PLACE, moment("08:00"), moment("11:00"), text)
        assert days.alarms(tmp_path) == [alarm]

    def test_a_few_minutes_are_let_go(self, tmp_path):
        days = Days(somebody(ADA), until="12:00", town=self.TOWN)
        days.wake(ADA, "07:00")
        days.act(ADA, "08:46", "11:00", "resting", BENCH)
        assert days.alarms(tmp_path) == []

    def test_whoever_works_there_may_be_there(self, tmp_path):
        town = with_norms("Cafe:cafe", hours=(9 * HOUR, 20 * HOUR))
        assert told(tmp_path, ("opening the doors", COUNTER), town=town) == []

    @pytest.mark.parametrize(("at", "alarms"), [("22:30", 0), ("day 2 01:00", 0), ("day 2 02:30", 1)])
    def test_a_place_may_close_after_midnight(self, tmp_path, at, alarms):
        late = {"wake": "12:00", "sleep": "04:00"}
        days = Days(somebody(ADA, **late), town=with_norms("Lawn:grass", hours=(18 * HOUR, 2 * HOUR)))
        days.wake(ADA, "07:00")
        days.act(ADA, at, f"{at[:-2]}59", "dancing", BENCH)
        assert len(days.alarms(tmp_path)) == alarms


class TestCrowded:
    TOWN = with_norms("House:kitchen", capacity=1)

    def days(self, zoe_from: str, zoe_until: str, walking: int = 0) -> Days:
        days = Days(until="09:00", town=self.TOWN)
        for name in (ADA, ZOE):
            days.wake(name, "07:00")
        days.act(ADA, "07:00", "07:30", "cooking eggs", STOVE)
        days.act(ADA, "07:30", "08:00", "washing up", STOVE)
        days.act(ZOE, zoe_from, zoe_until, "cooking rice", STOVE)
        days.walk(ZOE, zoe_from, walking)
        return days

    def test_one_too_many(self, tmp_path):
        text = f"{ADA} and {ZOE} were at House: kitchen, which holds one person, for 20 min"
        alarm = Alarm(ZOE, ADA, AlarmKind.UNFITTING_PLACE, moment("07:20"), moment("07:40"), text)
        assert self.days("07:20", "07:40").alarms(tmp_path) == [alarm]

    def test_who_comes_when_the_other_is_about_to_go_is_let_be(self, tmp_path):
        assert self.days("07:56", "08:30").alarms(tmp_path) == []

    def test_who_is_on_the_way_is_not_there(self, tmp_path):
        assert self.days("07:40", "08:30", walking=16).alarms(tmp_path) == []

    def test_a_place_that_holds_both(self, tmp_path):
        days = self.days("07:20", "07:40")
        days.town = with_norms("House:kitchen", capacity=2)
        assert days.alarms(tmp_path) == []
