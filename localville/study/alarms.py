"""Behaviour alarms: what in a run people would not do, found in its record without a model.

    Users of such towns report the same few things (people asleep all day, one action for hours, talk in circles, the same
    two talking again and again), and the paper names more (§7.2: odd places, closed shops, a shared bathroom of one).
    Each has a measure here, a function from what was lived to alarms, with its thresholds beside it:

    same action        conduct.py   the same in nearly the same words for more than four hours
    odd sleep          conduct.py   asleep by day, awake at three at night, against the persona's habits
    plan ignored       conduct.py   elsewhere for most of a part of the day plan
    no talk            company.py   with nobody all day, though with others in a room
    repetition         company.py   a line said twice in a talk, or too many of its phrases
    same pair          company.py   again each time as soon as the cooldown allows
    unfitting place    fitting.py   where it cannot be done, after closing, or one too many

An alarm should be right rather than all be found: no alarm does not make a good day. A new measure is a function more in
``MEASURES`` and a kind more in `localville/record/alarm.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from localville.record.alarm import Alarm
from localville.record.reader import RunReader
from localville.study.company import no_talk_all_day, repetition, same_pair_again
from localville.study.conduct import odd_sleep, plan_ignored, same_action_for_hours
from localville.study.fitting import unfitting_place
from localville.study.lived import Lived, read_lived
from localville.world.places import Town

MEASURES: tuple[Callable[[Lived], Iterator[Alarm]], ...] = (
    same_action_for_hours,
    odd_sleep,
    no_talk_all_day,
    repetition,
    same_pair_again,
    unfitting_place,
    plan_ignored,
)


def find_alarms(reader: RunReader, town: Town) -> list[Alarm]:
    """Takes all measures of a run up to its last step, in the order of time. ``town`` is the map it was lived on.

    A pure function of the record: two runs that lived the same have the same alarms.
    """
    lived = read_lived(reader, town)
    alarms = [alarm for measure in MEASURES for alarm in measure(lived)]
    return sorted(alarms, key=lambda alarm: alarm.since)
