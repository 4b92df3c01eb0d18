"""All measures of a run that was lived, not made: the same each time, in order, within the run, about its people."""

from __future__ import annotations

import pytest

from localville.record.reader import RunReader
from localville.study.alarms import MEASURES, find_alarms
from localville.study.lived import read_lived
from tests.people import street
from tests.sim.living import begin, live
from tests.study.made import good_day


@pytest.fixture(scope="module")
def two_days(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "two-days"
    live(begin(folder, until="day 2 24:00"))
    return folder


def test_they_are_a_function_of_the_record(two_days):
    found = []
    for _ in range(2):
        with RunReader.open(two_days) as reader:
            found.append(find_alarms(reader, street()))
    assert found[0] == found[1]
    assert found[0], "what the scripted engine writes is nonsense"


def test_they_lie_within_the_run_in_the_order_of_time(two_days):
    with RunReader.open(two_days) as reader:
        lived, alarms = read_lived(reader, street()), find_alarms(reader, street())
    assert alarms == sorted(alarms, key=lambda alarm: alarm.since)
    names = {life.name for life in lived.lives}
    for alarm in alarms:
        assert alarm.agent in names and alarm.partner in {*names - {alarm.agent}, ""}
        assert lived.span.start <= alarm.since <= alarm.until <= lived.span.end
        assert alarm.agent in alarm.text and alarm.partner in alarm.text


def test_what_was_lived_has_no_gaps(two_days):
    """From the first step on everybody is asleep or does something, and nobody does two things at once."""
    with RunReader.open(two_days) as reader:
        lived = read_lived(reader, street())
    for life in lived.lives:
        assert life.doings[-1].end == lived.span.end
        for one, following in zip(life.doings, life.doings[1:], strict=False):
            assert one.start <= one.arrived <= one.end <= following.start
        asleep = [doing for doing in life.doings if doing.text == "sleeping"]
        assert [doing.start for doing in asleep] == [max(span.start, asleep[0].start) for span in life.asleep]
        assert all(life.sleeps_at(doing.start) for doing in asleep)


def test_every_measure_says_what_it_looks_for_and_finds_nothing_on_a_good_day(tmp_path):
    lived = good_day().lived(tmp_path)
    for measure in MEASURES:
        assert measure.__doc__ and measure.__doc__.endswith(".")
        assert list(measure(lived)) == []
