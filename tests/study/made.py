"""Days written by hand into a run's record, for the tests of measures: who slept, did, said and planned what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localville.clock import MINUTE, SimTime, parse_clock, parse_moment
from localville.config import Persona, Profile, RunConfig
from localville.record.alarm import Alarm, AlarmKind
from localville.record.reader import RunReader
from localville.record.store import Store
from localville.record.tables import StepRows
from localville.study.alarms import find_alarms
from localville.study.lived import Lived, read_lived
from localville.world.places import Address, Town
from tests.people import somebody, street

START = SimTime.of("2023-02-13", "06:00")
ADA, ZOE = "Ada Lovelace", "Zoë 李"
BED, DESK, STOVE = "House:bedroom:bed", "House:bedroom:desk", "House:kitchen:stove"
COUNTER, TABLE, PIANO, BENCH = "Cafe:cafe:counter", "Cafe:cafe:table", "Cafe:cafe:piano", "Lawn:grass:bench"


def moment(text: str) -> int:
    """Game seconds of ``09:00`` or ``day 2 09:00``."""
    return parse_moment(text, START).seconds


class Days:
    """Collects what happened; ``alarms`` records it as a run of the street and measures it. A step is a minute."""

    def __init__(self, *cast: Persona, until: str = "day 2 09:00", town: Town | None = None) -> None:
        self.cast = cast or (somebody(ADA), somebody(ZOE))
        self.until, self.town = moment(until), town or street()
        self.rows: dict[int, StepRows] = defaultdict(lambda: defaultdict(list))
        self.talks = 0

    def night(self, name: str, start: str, end: str) -> None:
        """Goes to sleep and gets up."""
        self.act(name, start, end, "sleeping", BED)
        self.rows[moment(start)]["events"].append((name, "sleep", f"{name} goes to sleep"))
        if moment(end) < self.until:
            self.rows[moment(end)]["events"].append((name, "wake", f"{name} gets up"))

    def wake(self, name: str, at: str) -> None:
        self.rows[moment(at)]["events"].append((name, "wake", f"{name} gets up"))

    def act(self, name: str, start: str, end: str, text: str, place: str) -> None:
        row = (name, moment(start), moment(end), text, *Address.parse(place), "in use", "📖")
        self.rows[moment(start)]["actions"].append(row)

    def quarters(self, name: str, start: str, end: str, text: str, place: str) -> None:
        """An action each quarter of an hour; ``{}`` in the text becomes their number."""
        first = moment(start)
        for number in range((moment(end) - first) // (15 * MINUTE)):
            since, until = (SimTime(first + 15 * MINUTE * (number + i)) for i in (0, 1))
            self.act(name, since.iso[:16], until.iso[:16], text.format(number), place)

    def walk(self, name: str, start: str, minutes: int) -> None:
        """A tile a minute; where to does not matter."""
        for minute in range(minutes):
            self.rows[moment(start) + 60 * minute]["positions"].append((name, minute, 5))

    def talk(self, at: str, pair: tuple[str, str], lines: Sequence[str], place: str = TABLE, minutes: int = 2) -> None:
        """They take turns; nothing that was begun is taken up again afterwards."""
        self.talks += 1
        start = moment(at)
        for turn, text in enumerate(lines, 1):
            speaker, listener = pair if turn % 2 else pair[::-1]
            self.rows[start]["utterances"].append((self.talks, turn, speaker, listener, text))
        for name, partner in (pair, pair[::-1]):
            end = SimTime(start + 60 * minutes)
            row = (name, start, end.seconds, f"talking with {partner}", *Address.parse(place), "in use", "💬")
            self.rows[start]["actions"].append(row)

    def plan(self, name: str, at: str, *lines: tuple[str, str, str, str]) -> None:
        """Lines of start, end, activity and place."""
        for start, end, activity, place in lines:
            row = (name, "day", parse_clock(start), parse_clock(end), activity, place)
            self.rows[moment(at)]["plans"].append(row)

    def record(self, folder: Path) -> Path:
        config = RunConfig(
            scenario="street",
            model="scripted",
            start=START.seconds,
            until=self.until,
            step_seconds=60,
            agents=tuple(person.name for person in self.cast),
            profile=Profile(),
        )
        manifest: dict[str, Any] = {"config": config.model_dump(mode="json")}
        store = Store.create(folder, manifest, [(p.name, p.model_dump(mode="json")) for p in self.cast])
        for number, at in enumerate(sorted(at for at in {START.seconds, *self.rows} if at < self.until)):
            town = {"now": self.until, "until": self.until}
            store.write_step(number, SimTime(at), dict(self.rows[at]), (), [("", town)])
        store.close()
        return folder

    def alarms(self, folder: Path) -> list[Alarm]:
        with RunReader.open(self.record(folder / "run")) as reader:
            return find_alarms(reader, self.town)

    def told(self, folder: Path, kind: AlarmKind) -> list[Alarm]:
        """The alarms of one kind."""
        return [alarm for alarm in self.alarms(folder) if alarm.kind is kind]

    def lived(self, folder: Path) -> Lived:
        with RunReader.open(self.record(folder / "run")) as reader:
            return read_lived(reader, self.town)


def good_day(*cast: Persona) -> Days:
    """A day in which nothing is odd: two people at home, at work in the cafe, on the lawn, at home, and in bed."""
    days = Days(*cast)
    for person in days.cast:
        name = person.name
        days.wake(name, "07:00")
        days.plan(
            name,
            "07:00",
            ("07:00", "09:00", "have breakfast", "House"),
            ("09:00", "17:00", "work on the notes", "Cafe"),
            ("17:00", "19:00", "take a walk", "Lawn"),
            ("19:00", "23:00", "have dinner and read", "House"),
        )
        days.act(name, "07:00", "07:15", "getting out of bed", BED)
        days.act(name, "07:15", "09:00", "cooking breakfast", STOVE)
        days.act(name, "09:00", "11:00", "writing the notes", TABLE)
        days.act(name, "11:02", "13:00", "writing the notes", TABLE)
        days.act(name, "13:00", "14:00", "having lunch at the cafe", TABLE)
        days.act(name, "14:00", "17:00", "checking the formulas", TABLE)
        days.act(name, "17:00", "19:00", "reading about the cafe", BENCH)
        days.act(name, "19:00", "20:00", "making dinner", STOVE)
        days.act(name, "20:00", "23:00", "reading a book about sleeping", DESK)
        days.night(name, "23:00", "day 2 07:00")
    days.talk("11:00", (days.cast[0].name, days.cast[1].name), CHAT)
    return days


CHAT = (
    "Good morning! How are your notes coming along?",
    "Slowly, but I found a mistake in the third formula yesterday.",
    "That is good news. Shall we look at it over lunch?",
    "Gladly. See you at one.",
)
