"""Game time. Nothing else in the package reads a calendar or a wall clock for the town.

A ``SimTime`` counts naive seconds since 1970-01-01 00:00, without zones or leap seconds, so that
``datetime(t, 'unixepoch')`` in plain SQLite prints it. Days of a run are counted from 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from localville.errors import ConfigError

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1)
_CLOCK = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")
_DATE = re.compile(r"\b(?:on )?(\d{1,2} [A-Z][a-z]+ \d{4})\b")
_DAY_CLOCK = re.compile(r"day\s+(\d{1,4})\s+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, order=True, slots=True)
class SimTime:
    """Holds a moment of game time in whole seconds."""

    seconds: int

    @classmethod
    def of(cls, date: str, clock: str = "00:00") -> SimTime:
        """Reads an ISO date and an ``HH:MM`` clock time."""
        try:
            day = datetime.strptime(date.strip(), "%Y-%m-%d")
        except ValueError:
            raise ConfigError(f"'{date}' is no date", next="Write it as 2023-02-13") from None
        return cls(int((day - _EPOCH).total_seconds()) + parse_clock(clock))

    @property
    def midnight(self) -> SimTime:
        """The beginning of this day."""
        return SimTime(self.seconds - self.seconds % DAY)

    @property
    def second_of_day(self) -> int:
        return self.seconds % DAY

    @property
    def hhmm(self) -> str:
        """The clock time, ``08:15``."""
        return format_clock(self.second_of_day)

    @property
    def date_words(self) -> str:
        """The day as people say it: ``Monday, 13 February 2023``."""
        moment = self._datetime()
        return f"{moment:%A}, {moment.day} {moment:%B} {moment.year}"

    @property
    def iso(self) -> str:
        return f"{self._datetime():%Y-%m-%d %H:%M:%S}"

    def day_number(self, start: SimTime) -> int:
        """The day of a run that began at ``start``; the first day is 1."""
        return (self.midnight.seconds - start.midnight.seconds) // DAY + 1

    def at(self, second_of_day: int) -> SimTime:
        """The moment of this day at a second of the day; 86400 is the next midnight."""
        return SimTime(self.midnight.seconds + second_of_day)

    def __add__(self, seconds: int) -> SimTime:
        return SimTime(self.seconds + seconds)

    def __sub__(self, other: SimTime) -> int:
        return self.seconds - other.seconds

    def _datetime(self) -> datetime:
        return _EPOCH + timedelta(seconds=self.seconds)


def nearby_days(text: str, now: SimTime) -> str:
    """Says yesterday, today and tomorrow where a text names their date: ``tomorrow (14 February 2023)``.

    A small model that reads both dates does not work out how far apart they are, and holds tomorrow's party today.
    """
    names = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    near = {(now + days * DAY).date_words.partition(", ")[2]: word for days, word in names.items()}
    return _DATE.sub(lambda m: f"{near[m[1]]} ({m[1]})" if m[1] in near else m[0], text)


def parse_clock(text: str) -> int:
    """Reads ``HH:MM`` (00:00 to 24:00) into seconds of the day."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"'{text}' is no time of day", next="Write it as 06:00")
    seconds = int(match[1]) * HOUR + int(match[2]) * MINUTE
    if seconds > DAY:
        raise ConfigError(f"'{text}' lies after midnight", next="Write a time from 00:00 to 24:00")
    return seconds


def format_clock(second_of_day: int) -> str:
    """Writes seconds of the day as ``HH:MM``; 86400 becomes ``24:00``."""
    hours, rest = divmod(second_of_day, HOUR)
    return f"{hours:02d}:{rest // MINUTE:02d}"


def parse_moment(text: str, start: SimTime) -> SimTime:
    """Reads ``13:00``, ``day 2 09:00`` or ``2023-02-14 09:00`` as a moment of a run that began at ``start``."""
    text = text.strip()
    if match := _DAY_CLOCK.fullmatch(text):
        if int(match[1]) < 1:
            raise ConfigError(f"'{text}': days of a run are counted from 1", next="Write it as: day 1 09:00")
        return SimTime(start.midnight.seconds + (int(match[1]) - 1) * DAY + parse_clock(match[2]))
    if _CLOCK.fullmatch(text):
        return start.at(parse_clock(text))
    date, _, clock = text.partition(" ")
    if clock:
        return SimTime.of(date, clock)
    raise ConfigError(f"'{text}' is no moment", next="Write it as 13:00, 'day 2 09:00' or '2023-02-14 09:00'")
