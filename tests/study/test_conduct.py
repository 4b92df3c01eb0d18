"""How somebody spends the day: the same action for hours, odd sleep, an ignored plan; each with its innocent twin."""

from __future__ import annotations

import pytest

from localville.mind.plan import WAKE_STEP, WAKE_STEPS
from localville.record.alarm import Alarm, AlarmKind
from localville.study.conduct import WAKING_STRAYS
from localville.world.places import OUTDOORS_NAME
from tests.people import somebody
from tests.study.made import ADA, BED, BENCH, COUNTER, DESK, PIANO, TABLE, ZOE, Days, good_day, moment


def test_a_good_day_has_no_alarm(tmp_path):
    assert good_day().alarms(tmp_path) == []


def test_a_run_of_one_morning_has_no_alarm(tmp_path):
    days = Days(until="13:00")
    for name in (ADA, ZOE):
        days.wake(name, "07:00")
        days.plan(name, "07:00", ("07:00", "23:00", "work", "Cafe"))
        days.quarters(name, "07:00", "10:00", "writing chapter {}", TABLE)
        days.act(name, "10:00", "13:15", "playing music", PIANO)
    assert days.alarms(tmp_path) == []


class TestSameAction:
    @pytest.fixture
    def days(self):
        days = Days(somebody(ADA), until="20:00")
        days.wake(ADA, "07:00")
        return days

    def test_nearly_the_same_words_for_more_than_four_hours(self, days, tmp_path):
        days.quarters(ADA, "09:00", "13:15", "comparing formula {}", TABLE)
        text = f"{ADA} did the same for 4 h 15 min: 'comparing formula 0', 17 actions alike, the last 'comparing formula 16'"
        alarm = Alarm(ADA, "", AlarmKind.SAME_ACTION, moment("09:00"), moment("13:15"), text)
        assert days.alarms(tmp_path) == [alarm]

    def test_the_very_same_words(self, days, tmp_path):
        days.quarters(ADA, "09:00", "14:00", "comparing the formulas", TABLE)
        (alarm,) = days.alarms(tmp_path)
        assert alarm.text == f"{ADA} did the same for 5 h: 'comparing the formulas', 20 times"

    def test_four_hours_are_not_more_than_four_hours(self, days, tmp_path):
        days.quarters(ADA, "09:00", "13:00", "comparing formula {}", TABLE)
        assert days.alarms(tmp_path) == []

    def test_a_short_pause_does_not_end_it(self, days, tmp_path):
        days.quarters(ADA, "09:00", "11:00", "comparing formula {}", TABLE)
        days.act(ADA, "11:00", "11:15", "drinking coffee", COUNTER)
        days.quarters(ADA, "11:15", "13:30", "comparing formula {}", TABLE)
        (alarm,) = days.alarms(tmp_path)
        assert alarm.text.startswith(f"{ADA} did the same for 4 h 15 min: ")
        assert (alarm.since, alarm.until) == (moment("09:00"), moment("13:30"))

    def test_lunch_does(self, days, tmp_path):
        days.quarters(ADA, "09:00", "11:30", "comparing formula {}", TABLE)
        days.act(ADA, "11:30", "12:00", "having lunch", TABLE)
        days.quarters(ADA, "12:00", "15:00", "comparing formula {}", TABLE)
        assert days.alarms(tmp_path) == []

    def test_so_does_a_night(self, days, tmp_path):
        days.until = moment("day 2 12:00")
        days.quarters(ADA, "20:00", "23:00", "comparing formula {}", TABLE)
        days.night(ADA, "23:00", "day 2 07:00")
        days.quarters(ADA, "day 2 07:00", "day 2 09:00", "comparing formula {}", TABLE)
        assert days.alarms(tmp_path) == []

    def test_a_night_is_no_such_action(self, days, tmp_path):
        days.until = moment("day 2 07:00")
        days.night(ADA, "23:00", "day 2 07:00")
        assert days.alarms(tmp_path) == []


class TestSleep:
    def test_asleep_by_day(self, tmp_path):
        days = Days(somebody(ADA), until="20:00")
        days.wake(ADA, "07:00")
        days.night(ADA, "09:00", "13:30")
        text = f"{ADA} slept for 3 h 30 min of the day, though {ADA} usually sleeps from 23:00 to 07:00"
        alarm = Alarm(ADA, "", AlarmKind.ODD_SLEEP, moment("10:00"), moment("13:30"), text)
        assert days.alarms(tmp_path) == [alarm]

    def test_never_getting_up(self, tmp_path):
        (alarm,) = Days(somebody(ADA), until="14:00").alarms(tmp_path)
        assert alarm.text.startswith(f"{ADA} slept for 4 h of the day, ")

    def test_an_action_called_sleeping_is_sleep(self, tmp_path):
        days = Days(somebody(ADA), until="20:00")
        days.wake(ADA, "07:00")
        days.quarters(ADA, "14:00", "15:30", "sleeping in her bed", BED)
        (alarm,) = days.alarms(tmp_path)
        assert alarm.text.startswith(f"{ADA} slept for 1 h 30 min of the day, ")

    @pytest.mark.parametrize(
        "habits",
        [{"wake": "12:00", "sleep": "24:00"}, {"wake": "16:00", "sleep": "08:00"}, {"wake": "04:00", "sleep": "10:00"}],
        ids=str,
    )
    def test_who_usually_sleeps_then_may(self, tmp_path, habits):
        days = Days(somebody(ADA, **habits), until="20:00")
        days.wake(ADA, "06:00")
        days.night(ADA, "09:30", "13:00" if habits["wake"] != "16:00" else "16:30")
        assert days.alarms(tmp_path) == []

    def test_a_nap_is_no_alarm(self, tmp_path):
        days = Days(somebody(ADA), until="20:00")
        days.wake(ADA, "07:00")
        days.night(ADA, "13:00", "14:00")
        assert days.alarms(tmp_path) == []

    def test_awake_at_three(self, tmp_path):
        days = Days(somebody(ADA))
        days.wake(ADA, "07:00")
        days.act(ADA, "day 2 02:00", "day 2 03:10", "reading a book", DESK)
        text = f"{ADA} was awake at 03:00, though {ADA} usually sleeps from 23:00 to 07:00: 'reading a book' at House"
        alarm = Alarm(ADA, "", AlarmKind.ODD_SLEEP, moment("day 2 03:00"), moment("day 2 03:10"), text)
        assert days.alarms(tmp_path) == [alarm]

    @pytest.mark.parametrize(
        "habits", [{"wake": "04:00"}, {"sleep": "03:30"}, {"wake": "16:00", "sleep": "08:00"}], ids=str
    )
    def test_early_birds_and_night_workers_may_be(self, tmp_path, habits):
        days = Days(somebody(ADA, **habits), until="day 2 05:00")
        days.wake(ADA, "07:00")
        assert days.alarms(tmp_path) == []

    def test_waking_may_stray_as_far_as_the_mind_lets_it(self):
        assert WAKING_STRAYS == WAKE_STEP * WAKE_STEPS


class TestPlan:
    @pytest.fixture
    def days(self):
        days = Days(somebody(ADA), until="12:00")
        days.wake(ADA, "07:00")
        days.plan(ADA, "07:00", ("07:00", "09:00", "work on the notes", "Cafe"), ("09:00", "23:00", "rest", "House"))
        return days

    def test_elsewhere_for_most_of_it(self, days, tmp_path):
        days.act(ADA, "07:00", "07:30", "writing", TABLE)
        days.act(ADA, "07:30", "08:45", "resting", BENCH)
        days.act(ADA, "08:45", "09:00", "reading", DESK)
        text = (
            f"{ADA} had planned 'work on the notes' at Cafe and spent 1 h 30 min of 2 h elsewhere: "
            "Lawn (1 h 15 min) and House (15 min)"
        )
        alarm = Alarm(ADA, "", AlarmKind.PLAN_IGNORED, moment("07:00"), moment("09:00"), text)
        assert days.alarms(tmp_path) == [alarm]

    def test_half_of_it_is_not_most(self, days, tmp_path):
        days.act(ADA, "07:00", "08:00", "writing", TABLE)
        days.act(ADA, "08:00", "09:00", "resting", BENCH)
        assert days.alarms(tmp_path) == []

    def test_walks_and_talks_do_not_count(self, days, tmp_path):
        """An hour and twenty minutes away, of which ten count."""
        days.act(ADA, "07:00", "07:40", "writing", TABLE)
        days.act(ADA, "07:40", "08:30", "resting", BENCH)
        days.walk(ADA, "07:40", 40)
        days.cast = (*days.cast, somebody(ZOE, wake="13:00"))
        days.talk("08:30", (ADA, ZOE), ["Hello!", "Hello, Ada."], BENCH, minutes=30)
        assert days.alarms(tmp_path) == []

    def test_waiting_in_the_street_is_being_nowhere(self, days, tmp_path):
        days.act(ADA, "07:00", "07:35", "writing", TABLE)
        days.quarters(ADA, "07:35", "09:00", "waiting for the cafe to be free", OUTDOORS_NAME)
        assert days.alarms(tmp_path) == []

    def test_a_part_that_was_hardly_lived_is_not_judged(self, days, tmp_path):
        days.until = moment("07:50")
        days.act(ADA, "07:00", "09:00", "resting", BENCH)
        assert days.alarms(tmp_path) == []

    def test_a_promise_changes_the_plan_from_then_on(self, days, tmp_path):
        promised = ("07:30", "12:00", "have a picnic with Zoë", "Lawn")
        days.plan(
            ADA, "07:20", ("07:00", "07:30", "work on the notes", "Cafe"), promised, ("12:00", "23:00", "rest", "House")
        )
        days.act(ADA, "07:00", "07:30", "writing", TABLE)
        days.act(ADA, "07:30", "10:00", "having a picnic", BENCH)
        assert days.alarms(tmp_path) == []
        plan = days.lived(tmp_path / "again").lives[0].plan
        assert [(part.start, part.end, part.place) for part in plan] == [
            (moment("07:00"), moment("07:30"), "Cafe"),
            (moment("07:30"), moment("12:00"), "Lawn"),
        ]
