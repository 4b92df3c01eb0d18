"""Talking: none all day, the same words again and again, the same two as often as they may; each with its innocent twin."""

from __future__ import annotations

import pytest

from localville.clock import MINUTE, SimTime
from localville.config import Profile
from localville.record.alarm import Alarm, AlarmKind
from tests.people import somebody
from tests.study.made import ADA, BENCH, CHAT, DESK, PIANO, STOVE, TABLE, ZOE, Days, good_day, moment

PAIR = (ADA, ZOE)


class TestNoTalk:
    @pytest.fixture
    def days(self):
        """Ada gets up at seven and Zoë at eight; they share the cafe from nine to half past ten and say nothing."""
        days = Days()
        for name, wake in ((ADA, "07:00"), (ZOE, "08:00")):
            days.wake(name, wake)
            days.act(name, wake, "09:00", "washing", STOVE if name == ADA else DESK)
            days.act(name, "09:00", "10:30", "writing", TABLE if name == ADA else PIANO)
            days.act(name, "10:30", "23:00", "reading", BENCH if name == ADA else DESK)
            days.night(name, "23:00", "day 2 07:00")
        return days

    def test_with_nobody_all_day_though_others_were_about(self, days, tmp_path):
        first, second = days.told(tmp_path, AlarmKind.NO_TALK)
        text = f"{ADA} talked with nobody all day, though in one room with {ZOE} (1 h 30 min)"
        assert first == Alarm(ADA, "", AlarmKind.NO_TALK, moment("07:00"), moment("23:00"), text)
        text = f"{ZOE} talked with nobody all day, though in one room with {ADA} (1 h 30 min)"
        assert second == Alarm(ZOE, "", AlarmKind.NO_TALK, moment("08:00"), moment("23:00"), text)

    def test_one_talk_is_enough(self, days, tmp_path):
        days.talk("10:00", PAIR, CHAT)
        assert days.told(tmp_path, AlarmKind.NO_TALK) == []

    def test_a_talk_of_the_day_before_is_not(self, days, tmp_path):
        days.until = moment("day 2 23:00")
        days.talk("10:00", PAIR, CHAT)
        for name in PAIR:
            days.act(name, "day 2 07:00", "day 2 23:00", "reading", TABLE)
        days.wake(ADA, "day 2 07:00")
        days.wake(ZOE, "day 2 07:00")
        alarms = days.told(tmp_path, AlarmKind.NO_TALK)
        assert [(alarm.agent, alarm.since) for alarm in alarms] == [(name, moment("day 2 07:00")) for name in PAIR]

    def test_who_meets_nobody_talks_with_nobody(self, days, tmp_path):
        del days.rows[moment("09:00")]
        assert days.told(tmp_path, AlarmKind.NO_TALK) == []

    def test_who_sleeps_is_no_company(self, tmp_path):
        days = Days()
        days.wake(ADA, "07:00")
        days.act(ZOE, "06:00", "23:00", "sleeping", "House:bedroom:bed")
        days.act(ADA, "07:00", "23:00", "reading", DESK)
        days.night(ADA, "23:00", "day 2 07:00")
        assert days.told(tmp_path, AlarmKind.NO_TALK) == []

    def test_a_day_that_is_not_over_is_not_judged(self, days, tmp_path):
        days.until = moment("22:00")
        assert days.told(tmp_path, AlarmKind.NO_TALK) == []


class TestRepetition:
    def told(self, folder, *lines):
        days = good_day()
        days.talk("17:30", PAIR, lines, BENCH)
        return days.alarms(folder)

    def test_a_line_said_again(self, tmp_path):
        line = "I would love to help you."
        (alarm,) = self.told(
            tmp_path, "Could you help me?", line, "Thank you!", "I would LOVE to help you!", "Thank you!"
        )
        text = f"{ADA} and {ZOE} repeated themselves in a talk: '{line}' was said 2 times"
        assert alarm == Alarm(ADA, ZOE, AlarmKind.REPETITION, moment("17:30"), moment("17:32"), text)

    def test_phrases_that_come_again(self, tmp_path):
        (alarm,) = self.told(
            tmp_path,
            "I am looking forward to the party at the cafe tonight.",
            "So am I, looking forward to the party at the cafe is all I do.",
            "And who else is looking forward to the party at the cafe?",
        )
        assert alarm.text == (
            f"{ADA} and {ZOE} repeated themselves in a talk: "
            "34% of its phrases of 4 words came again, 'looking forward to the' 3 times"
        )

    @pytest.mark.parametrize(
        "lines",
        [
            CHAT,
            ("Good morning, Zoë!", "Good morning, Zoë!", "Goodbye!", "Goodbye!"),
            ("See you at the party tonight then.", "Yes, see you at the party."),
            ("…", "!!"),
        ],
        ids=lambda lines: lines[0],
    )
    def test_greetings_and_what_is_taken_up_are_no_repetition(self, tmp_path, lines):
        assert self.told(tmp_path, *lines) == []

    def test_the_same_line_in_another_talk_is_none(self, tmp_path):
        assert self.told(tmp_path, *CHAT) == []


class TestSamePair:
    COOLDOWN = Profile().talk_cooldown_minutes

    def days(self, *pauses: int, pairs=(PAIR,)) -> Days:
        """Talks of two minutes from eight o'clock, with so many minutes between them."""
        days = Days(until="22:00")
        at = moment("08:00")
        for number, pause in enumerate((0, *pauses)):
            at += (pause + 2 * bool(number)) * MINUTE
            days.talk(SimTime(at).hhmm, pairs[number % len(pairs)], [f"{'So' * (number + 1)}, what is new?", "A lot!"])
        return days

    def test_again_each_time_as_soon_as_they_may(self, tmp_path):
        days = self.days(self.COOLDOWN, self.COOLDOWN + 15, self.COOLDOWN, pairs=(PAIR, PAIR[::-1]))
        (alarm,) = days.told(tmp_path, AlarmKind.SAME_PAIR)
        times = "08:00, 10:15, 12:45 and 15:00"
        text = f"{ADA} and {ZOE} talked as often as the 133 minutes between two talks allow: at {times}"
        assert alarm == Alarm(ADA, ZOE, AlarmKind.SAME_PAIR, moment("08:00"), moment("15:02"), text)

    def test_three_talks_are_not_yet_a_habit(self, tmp_path):
        assert self.days(self.COOLDOWN, self.COOLDOWN).told(tmp_path, AlarmKind.SAME_PAIR) == []

    def test_a_longer_pause_begins_a_new_row(self, tmp_path):
        soon, late = self.COOLDOWN, self.COOLDOWN + 16
        assert self.days(soon, soon, late, soon, soon).told(tmp_path, AlarmKind.SAME_PAIR) == []

    def test_other_pairs_do_not_count_together(self, tmp_path):
        third = "Ida"
        days = self.days(*[self.COOLDOWN] * 4, pairs=(PAIR, (ADA, third)))
        days.cast = (*days.cast, somebody(third))
        assert days.told(tmp_path, AlarmKind.SAME_PAIR) == []
