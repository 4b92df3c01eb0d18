"""Game time: what is read is what is written, days are counted from 1, midnight belongs to both days."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localville.clock import DAY, HOUR, MINUTE, SimTime, format_clock, nearby_days, parse_clock, parse_moment
from localville.errors import ConfigError

START = SimTime.of("2023-02-13", "06:00")
MINUTES = st.integers(0, DAY // MINUTE)
MOMENTS = st.integers(0, 4_000_000_000).map(SimTime)


class TestClock:
    @given(MINUTES)
    def test_every_minute_of_the_day_is_read_as_it_is_written(self, minute):
        assert parse_clock(format_clock(minute * MINUTE)) == minute * MINUTE

    @pytest.mark.parametrize(
        ("text", "seconds"), [("00:00", 0), ("6:05", 6 * HOUR + 5 * MINUTE), (" 23:59 ", DAY - MINUTE), ("24:00", DAY)]
    )
    def test_it_reads(self, text, seconds):
        assert parse_clock(text) == seconds

    @pytest.mark.parametrize("text", ["", "6", "6 am", "06:60", "25:00", "-1:00", "06:00:00", "06.00", "six", "06:0"])
    def test_it_refuses(self, text):
        with pytest.raises(ConfigError, match="06:00"):
            parse_clock(text)

    def test_a_minute_past_24_is_refused(self):
        with pytest.raises(ConfigError, match="after midnight"):
            parse_clock("24:01")

    def test_seconds_are_dropped_not_rounded(self):
        assert format_clock(8 * HOUR + 15 * MINUTE + 59) == "08:15"


class TestSimTime:
    def test_it_prints_like_sqlite(self):
        import sqlite3

        query = "SELECT datetime(?, 'unixepoch')"
        assert sqlite3.connect(":memory:").execute(query, (START.seconds,)).fetchone()[0] == START.iso
        assert START.iso == "2023-02-13 06:00:00"

    def test_the_day_is_said_in_words(self):
        assert START.date_words == "Monday, 13 February 2023"
        assert SimTime.of("2024-02-29").date_words == "Thursday, 29 February 2024"

    @given(MOMENTS)
    def test_midnight_and_second_of_day_make_the_moment(self, moment):
        assert moment.midnight + moment.second_of_day == moment
        assert 0 <= moment.second_of_day < DAY
        assert moment.midnight.second_of_day == 0
        assert moment.at(moment.second_of_day) == moment

    @given(MOMENTS, st.integers(-DAY * 400, DAY * 400))
    def test_sums_and_differences_agree(self, moment, seconds):
        assert (moment + seconds) - moment == seconds
        assert (moment + seconds > moment) == (seconds > 0)

    def test_days_of_a_run_are_counted_from_1_and_change_at_midnight(self):
        assert START.day_number(START) == 1
        assert (START.at(DAY) + -1).day_number(START) == 1
        assert START.at(DAY).day_number(START) == 2
        assert SimTime.of("2023-03-01").day_number(START) == 17

    @pytest.mark.parametrize("date", ["", "2023-02-30", "13.02.2023", "2023/02/13", "today"])
    def test_a_date_that_is_none_is_refused(self, date):
        with pytest.raises(ConfigError, match="2023-02-13"):
            SimTime.of(date)


class TestMoment:
    @pytest.mark.parametrize(
        ("text", "iso"),
        [
            ("13:00", "2023-02-13 13:00:00"),
            ("24:00", "2023-02-14 00:00:00"),
            ("day 1 09:00", "2023-02-13 09:00:00"),
            ("Day  2   09:00 ", "2023-02-14 09:00:00"),
            ("day 2 24:00", "2023-02-15 00:00:00"),
            ("2023-03-01 08:30", "2023-03-01 08:30:00"),
        ],
    )
    def test_it_reads(self, text, iso):
        assert parse_moment(text, START).iso == iso

    @pytest.mark.parametrize("text", ["", "tomorrow", "day 2", "day two 09:00", "day 0 09:00", "2023-02-14", "day 1 9"])
    def test_it_refuses_and_says_how_to_write_it(self, text):
        with pytest.raises(ConfigError, match="Write it as"):
            parse_moment(text, START)

    @given(st.integers(1, 9999), st.integers(0, DAY // MINUTE - 1))
    def test_a_day_and_a_time_are_found_again(self, day, minute):
        moment = parse_moment(f"day {day} {format_clock(minute * MINUTE)}", START)
        assert moment.day_number(START) == day
        assert moment.second_of_day == minute * MINUTE


class TestNearbyDays:
    NOW = SimTime.of("2023-02-28", "23:50")

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("a party on 1 March 2023 at 5", "a party tomorrow (1 March 2023) at 5"),
            ("27 February 2023", "yesterday (27 February 2023)"),
            ("on 28 February 2023 and 2 March 2023", "today (28 February 2023) and 2 March 2023"),
            ("11 March 2023", "11 March 2023"),
            ("31 April 20233, 5 Apples 2023, 28 february 2023", "31 April 20233, 5 Apples 2023, 28 february 2023"),
        ],
    )
    def test_dates_near_now_are_named(self, text, told):
        assert nearby_days(text, self.NOW) == told
