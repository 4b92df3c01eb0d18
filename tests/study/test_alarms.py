"""Each alarm goes off on a bad day and is silent on a good one."""

from __future__ import annotations

from pathlib import Path

import pytest

from localville.clock import DAY, HOUR, MINUTE, SimTime
from localville.llm.scripted import ScriptedEngine
from localville.record.reader import Line, RunReader
from localville.study.alarms import (
    alarms,
    odd_sleep,
    plan_ignored,
    repetitive_talk,
    same_action,
    same_pair,
    silent_day,
    unfitting_place,
)
from tests.people import somebody, street
from tests.sim.living import lived

ADA = somebody("Ada Lovelace")
DATE = SimTime.of("2023-02-13").seconds
KITCHEN, BEDROOM, CAFE = ("House", "kitchen", "stove"), ("House", "bedroom", "bed"), ("Cafe", "cafe", "counter")


def did(start: float, end: float, text: str, where: tuple[str, str, str] = BEDROOM) -> Line:
    """A line of a day, from and to hours of it."""
    return Line(DATE + round(start * HOUR), DATE + round(end * HOUR), "📝", text, *where, "in use")


GOOD = [
    did(0, 7, "sleeping"),
    did(7, 7.5, "cooking porridge", KITCHEN),
    did(7.5, 12, "selling coffee", CAFE),
    did(12, 12.25, "talking with Zoë 李", CAFE),
    did(12.25, 16, "counting the cups", CAFE),
    did(16, 23, "writing letters"),
    did(23, 31, "sleeping"),
]


def test_the_same_for_hours() -> None:
    bad = [
        did(8, 10, "comparing formula 9"),
        did(10, 10.1, "talking with Zoë 李"),
        did(10.1, 13, "comparing formula 10"),
    ]
    (alarm,) = same_action(ADA, [*bad, did(13, 14, "having lunch")])
    assert alarm.text == 'Ada Lovelace is "comparing formula 9" or the like for 5.0 hours'
    assert (alarm.since, alarm.until) == (DATE + 8 * HOUR, DATE + 13 * HOUR)
    assert not list(same_action(ADA, [did(0, 9, "sleeping"), did(9, 12, "reading"), did(12, 15, "writing a letter")]))


def test_asleep_by_day_and_up_at_night() -> None:
    assert [alarm.text for alarm in odd_sleep(ADA, [did(0, 11, "sleeping")])] == [
        "Ada Lovelace sleeps from 09:00 to 10:59"
    ]
    assert not list(odd_sleep(ADA, GOOD))
    (alarm,) = odd_sleep(ADA, [did(2.9, 3.2, "reading")])
    assert alarm.text == 'Ada Lovelace is "reading" at 03:00'
    owl = somebody(wake="14:00", sleep="04:00")
    assert not list(odd_sleep(owl, [did(2.9, 3.2, "reading"), did(4, 14, "sleeping")]))


def test_a_day_without_a_talk() -> None:
    assert not list(silent_day(ADA, GOOD))
    quiet = [line for line in GOOD if not line.text.startswith("talking")]
    (alarm,) = silent_day(ADA, quiet)
    assert (alarm.since, alarm.until) == (DATE + 7 * HOUR, DATE + 23 * HOUR)
    assert not list(silent_day(ADA, quiet[:-1]))  # the day is not over


def test_a_talk_in_circles() -> None:
    bad = [("Ada", "I will see you at the party tomorrow."), ("Zoë", "Yes, I will see you at the party tomorrow.")]
    (alarm,) = repetitive_talk([(DATE, bad)])
    assert alarm.agent == "Ada and Zoë"
    assert "of the phrases of a talk were said before in it" in alarm.text
    assert not list(repetitive_talk([(DATE, [("Ada", "How is the engine?"), ("Zoë", "It does sums by itself now.")])]))


def test_the_same_two_again_and_again() -> None:
    said = [("Ada", "Hello."), ("Zoë", "Hello.")]
    cooldown = 60 * MINUTE
    often = [(DATE + n * 65 * MINUTE, said) for n in range(5)]
    (alarm,) = same_pair(often, cooldown)
    assert alarm.text == "Ada and Zoë talk 5 times in a row"
    assert not list(same_pair(often[:3], cooldown))
    assert not list(same_pair([(DATE + n * 3 * HOUR, said) for n in range(5)], cooldown))


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        (did(8, 9, "taking a shower", CAFE), False),
        (did(8, 9, "cooking porridge", CAFE), False),
        (did(8, 9, "cooking porridge", KITCHEN), True),
        (did(8, 9, "going to the cafe", BEDROOM), False),
        (did(8, 9, "going to the cafe", CAFE), True),
        (did(8, 9, "talking with Zoë 李 about cooking", CAFE), True),
        (did(8, 9, "waiting for the bedroom to be free", ("House", "kitchen", "")), True),
        (did(0, 7, "sleeping", CAFE), True),
    ],
)
def test_what_does_not_fit_its_place(line: Line, fits: bool) -> None:
    assert bool(list(unfitting_place(ADA, [line], street()))) is not fits


def test_a_plan_nobody_follows() -> None:
    plan = [(7 * HOUR, 9 * HOUR, "have breakfast", "House"), (9 * HOUR, 12 * HOUR, "sell coffee", "Cafe")]
    lazy = [did(7, 12, "reading")]
    (alarm,) = plan_ignored(ADA, lazy, [(DATE + 7 * HOUR, plan)])
    assert alarm.text == 'Ada Lovelace planned to "sell coffee" at Cafe and was elsewhere for 3.0 hours'
    assert not list(plan_ignored(ADA, [did(7, 9, "reading"), did(9, 12, "selling", CAFE)], [(DATE + 7 * HOUR, plan)]))
    assert not list(plan_ignored(ADA, lazy, []))
    # A plan made anew at nine counts from then on.
    home = [(9 * HOUR, 12 * HOUR, "rest", "House")]
    assert not list(plan_ignored(ADA, lazy, [(DATE + 7 * HOUR, plan), (DATE + 9 * HOUR, home)]))


def test_they_are_read_from_a_run(tmp_path: Path) -> None:
    lived(tmp_path / "run", until="day 2 24:00", engine=ScriptedEngine(ready={}))
    with RunReader.open(tmp_path / "run") as reader:
        found = alarms(reader, street())
        agents = reader.agents()
    assert found == sorted(found, key=lambda alarm: (alarm.since, alarm.agent, alarm.kind))
    assert all(set(alarm.agent.split(" and ")) <= set(agents) for alarm in found)
    assert all(DATE <= alarm.since <= alarm.until <= DATE + 3 * DAY for alarm in found)
