"""What an alarm is: something in a run that people would not do, measured from its record (`localville/study/alarms.py`).

Alarms are an account of a run, not facts of its town: other thresholds give other alarms of the same days.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class AlarmKind(StrEnum):
    """What is odd. The values are what is written and shown."""

    SAME_ACTION = "same action"
    ODD_SLEEP = "odd sleep"
    NO_TALK = "no talk"
    REPETITION = "repetition"
    SAME_PAIR = "same pair"
    UNFITTING_PLACE = "unfitting place"
    PLAN_IGNORED = "plan ignored"


class Alarm(NamedTuple):
    """One alarm. ``since`` and ``until`` are game seconds; ``partner`` is empty where it is about one person."""

    agent: str
    partner: str
    kind: AlarmKind
    since: int
    until: int
    text: str
    """A sentence with the evidence."""
