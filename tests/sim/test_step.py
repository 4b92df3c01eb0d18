"""Two days in the street: what must hold of every step, whatever the answers are."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from localville.clock import DAY, HOUR, MINUTE, SimTime, parse_clock
from localville.llm.scripted import ScriptedEngine
from localville.mind.emoji import EMOJI
from localville.mind.plan import SLEEPING, bed_time
from localville.world.grid import Tile
from localville.world.places import Address
from tests.people import somebody, street
from tests.sim.living import CAST, START, lived, rows

NAMES = [person.name for person in CAST]
MIDNIGHT = START.midnight.seconds


@pytest.fixture(scope="module")
def two_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The street until the end of day 2, its answers drawn letter by letter."""
    folder = tmp_path_factory.mktemp("runs") / "two-days"
    lived(folder, until="day 2 24:00", engine=ScriptedEngine(ready={}))
    return folder


def actions(folder: Path, name: str) -> list[tuple[int, int, str, str]]:
    query = 'SELECT start, "end", text, sector FROM lived WHERE agent = ? ORDER BY nr'
    return rows(folder, query, name)


@pytest.mark.parametrize("name", NAMES)
class TestDays:
    def test_actions_follow_one_another_without_gap_or_overlap(self, two_days, name):
        spans = actions(two_days, name)
        assert spans[0][0] == START.seconds
        assert all(one[1] == other[0] for one, other in pairwise(spans))
        assert spans[-1][1] >= MIDNIGHT + 2 * DAY

    def test_by_day_an_action_takes_at_most_15_minutes(self, two_days, name):
        lengths = [end - start for start, end, text, _ in actions(two_days, name) if text != SLEEPING]
        assert max(lengths) <= 15 * MINUTE
        talked = [text for _, _, text, _ in actions(two_days, name) if text.startswith("talking with ")]
        # A talk cuts an action in two, and may push the rest of it out.
        assert sum(length not in (5 * MINUTE, 10 * MINUTE, 15 * MINUTE) for length in lengths) <= 3 * len(talked)

    def test_at_night_everybody_sleeps_at_home(self, two_days, name):
        nights = [line for line in actions(two_days, name) if line[2] == SLEEPING]
        assert 2 <= len(nights) <= 3  # before the first day there is a nap, unless Ada is up at once
        assert {sector for *_, sector in nights} == {"House"}
        bed = bed_time(CAST[NAMES.index(name)])
        for day in (0, 1):
            late = MIDNIGHT + day * DAY + bed
            assert any(start <= late and late + 5 * HOUR <= end for start, end, *_ in nights)

    def test_each_day_has_a_plan_from_getting_up_to_bed_time(self, two_days, name):
        plans = defaultdict(list)
        query = """SELECT step, start, "end" FROM plans WHERE agent = ? AND level = 'day' ORDER BY rowid"""
        for step, start, end in rows(two_days, query, name):
            plans[step].append((start, end))
        ups = [step for (step,) in rows(two_days, "SELECT step FROM events WHERE agent = ? AND kind = 'wake'", name)]
        assert len(ups) == 2
        # Later in the day only a promise for this day makes a new one.
        query = """SELECT step FROM promises JOIN steps USING (step) WHERE agent = ? AND date = date(at, 'unixepoch')"""
        assert sorted(plans) == sorted({*ups, *(step for (step,) in rows(two_days, query, name))})
        for step, chunks in plans.items():
            at = rows(two_days, "SELECT at FROM steps WHERE step = ?", max(up for up in ups if up <= step))[0][0]
            assert chunks[0][0] == SimTime(at).second_of_day
            assert chunks[-1][1] == bed_time(CAST[NAMES.index(name)])
            assert all(one[1] == other[0] for one, other in pairwise(chunks))

    def test_hours_lie_within_the_parts_of_the_day(self, two_days, name):
        query = """SELECT step, start, "end", place FROM plans WHERE agent = ? AND level = ? ORDER BY rowid"""
        days, hours = rows(two_days, query, name, "day"), rows(two_days, query, name, "hours")
        assert len(hours) >= 2 * 5  # two days
        for step, start, end, place in hours:
            latest = max(day for day, *_ in days if day <= step)
            parts = [part for day, *part in days if day == latest]
            assert any(first <= start < end <= last and place == where for first, last, where in parts)

    def test_what_is_done_lies_where_the_plan_says(self, two_days, name):
        query = """SELECT step, start, "end", place FROM plans WHERE agent = ? AND level = 'day' ORDER BY rowid"""
        plans = [(SimTime(at_of(two_days, step)).midnight, *rest) for step, *rest in rows(two_days, query, name)]
        for start, _, text, sector in actions(two_days, name):
            if text != SLEEPING and not text.startswith("talking with "):
                assert any((day + first).seconds <= start < (day + last).seconds and place == sector
                           for day, first, last, place in plans)  # fmt: skip

    def test_nobody_leaves_the_floor_or_jumps(self, two_days, name):
        path = rows(two_days, "SELECT step, x, y FROM positions WHERE agent = ? ORDER BY rowid", name)
        assert all(street().grid.can_walk(Tile(x, y)) for _, x, y in path)
        for (step, x, y), (later, to_x, to_y) in pairwise(path):
            assert later > step
            assert abs(x - to_x) + abs(y - to_y) <= 1

    def test_a_walk_ends_at_the_object_of_the_action(self, two_days, name):
        arrivals = rows(two_days, "SELECT step, text FROM events WHERE agent = ? AND kind = 'arrive'", name)
        assert arrivals
        for step, text in arrivals:
            address = Address.parse(text.partition(" arrives at ")[2])
            x, y = rows(two_days, "SELECT x, y FROM positions WHERE agent = ? AND step = ?", name, step)[0]
            assert Tile(x, y) in street().thing(address).stand


def at_of(folder: Path, step: int) -> int:
    return rows(folder, "SELECT at FROM steps WHERE step = ?", step)[0][0]


class TestClock:
    def test_it_only_goes_forward_on_the_grid_of_steps(self, two_days):
        times = [at for (at,) in rows(two_days, "SELECT at FROM steps ORDER BY step")]
        assert all((at - START.seconds) % 60 == 0 for at in times)
        assert all(one < other for one, other in pairwise(times[1:]))
        assert times[-1] < MIDNIGHT + 2 * DAY

    def test_nights_are_skipped(self, two_days):
        hours = [SimTime(at).second_of_day // HOUR for (at,) in rows(two_days, "SELECT at FROM steps")]
        assert sum(hour in (1, 2, 3) for hour in hours) == 0


class TestMemories:
    def test_each_names_its_subject(self, two_days):
        subjects = (*NAMES, *(f"the {thing.name} at " for thing in street().things()))
        for (text,) in rows(two_days, "SELECT text FROM memories"):
            assert text.startswith(subjects)

    def test_the_first_are_those_of_the_persona_file(self, two_days):
        for person in CAST:
            first = rows(two_days, "SELECT text FROM memories WHERE agent = ? AND step = 0 ORDER BY id", person.name)
            assert [text for (text,) in first] == list(person.seed_memories)

    def test_what_one_does_is_remembered_and_day_plans_are(self, two_days):
        texts = {text for (text,) in rows(two_days, "SELECT text FROM memories WHERE agent = ?", NAMES[0])}
        done = [
            line for line in actions(two_days, NAMES[0])[:-1] if line[2] != SLEEPING and "talking with" not in line[2]
        ]
        came = [line for line in done if self.got_there(two_days, NAMES[0], *line[:2])]
        assert len(came) > len(done) / 2
        assert {f"{NAMES[0]} is {text}" for _, _, text, _ in came} <= texts
        missed = {text for _, _, text, _ in done} - {text for _, _, text, _ in came}
        assert not {f"{NAMES[0]} is {text}" for text in missed} & texts
        plans = rows(two_days, "SELECT importance FROM memories WHERE agent = ? AND kind = 'plan'", NAMES[0])
        assert len(plans) >= 2 and set(plans) == {(5,)}

    @staticmethod
    def got_there(folder: Path, name: str, start: int, end: int) -> bool:
        """Whether somebody stood where an action is done before its time was over."""
        when = "FROM {} JOIN steps USING (step) WHERE agent = ? AND at >= ? AND at < ?"
        walked = rows(folder, f"SELECT * {when.format('positions')}", name, start, end)
        query = f"SELECT * {when.format('events')} AND kind = 'arrive'"
        return not walked or bool(rows(folder, query, name, start, end))

    def test_people_who_share_a_room_notice_each_other(self, two_days):
        for me, other in (NAMES, NAMES[::-1]):
            query = "SELECT count(*) FROM memories WHERE agent = ? AND step > 0 AND text LIKE ?"
            assert rows(two_days, query, me, f"{other} is %")[0][0] > 0

    def test_nobody_remembers_a_thing_while_asleep(self, two_days):
        for name in NAMES:
            query = "SELECT created FROM memories WHERE agent = ? AND step > 0"
            created = [at for (at,) in rows(two_days, query, name)]
            nights = [(start, end) for start, end, text, _ in actions(two_days, name) if text == SLEEPING]
            assert not [at for at in created for start, end in nights if start < at < end]

    def test_ids_count_from_1_and_importance_lies_on_the_scale(self, two_days):
        for name in NAMES:
            found = rows(two_days, "SELECT id, importance FROM memories WHERE agent = ? ORDER BY id", name)
            assert [number for number, _ in found] == list(range(1, len(found) + 1))
            assert {importance for _, importance in found} <= set(range(1, 11))


class TestObjects:
    def test_a_state_lasts_while_the_object_is_used_and_no_longer(self, two_days):
        """At every step the objects that are not idle are those whose users stand at them."""
        users: dict[str, Address] = {}
        arrived: dict[str, bool] = {}
        state: dict[str, str] = {}
        tiles: dict[str, Tile] = {}
        doing = defaultdict(list)
        for step, agent, *address in rows(two_days, "SELECT step, agent, sector, arena, object FROM actions"):
            doing[step].append((agent, Address(*address)))
        moved, changed = defaultdict(list), defaultdict(list)
        for step, agent, x, y in rows(two_days, "SELECT step, agent, x, y FROM positions"):
            moved[step].append((agent, Tile(x, y)))
        for step, address, words in rows(two_days, "SELECT step, address, state FROM object_states"):
            changed[step].append((address, words))
        for (step,) in rows(two_days, "SELECT step FROM steps ORDER BY step"):
            users.update(doing[step])
            tiles.update(moved[step])
            state.update(changed[step])
            arrived = {agent: tiles[agent] in street().thing(thing).stand for agent, thing in users.items()}
            used = {str(thing) for agent, thing in users.items() if arrived[agent]}
            for thing in street().things():
                if str(thing.address) not in used:
                    assert state.get(str(thing.address), thing.idle_state) == thing.idle_state

    def test_states_and_emoji_are_never_empty(self, two_days):
        for words, emoji in rows(two_days, "SELECT object_state, emoji FROM actions"):
            assert words.strip() == words != ""
            assert emoji in EMOJI

    def test_actions_are_bound_to_places_their_agent_knows(self, two_days):
        for name in NAMES:
            (state,) = rows(two_days, "SELECT state FROM checkpoint WHERE agent = ?", name)[0]
            known = json.dumps(json.loads(state)["tree"])
            for (place,) in rows(two_days, "SELECT DISTINCT object FROM actions WHERE agent = ?", name):
                assert place in known


class TestOddHours:
    @pytest.mark.parametrize("start", ["22:29", "22:31", "22:45", "23:00", "23:59"])
    def test_a_run_may_begin_late(self, tmp_path, start):
        lived(tmp_path / "run", start=start, until="day 2 05:00", engine=ScriptedEngine(ready={}))
        for name in NAMES:
            spans = actions(tmp_path / "run", name)
            assert all(one[1] == other[0] for one, other in pairwise(spans))
            assert [text for *_, text, _ in spans if text == SLEEPING] == [spans[-1][2]]

    @pytest.mark.parametrize("start", ["06:31", "10:59"])
    def test_who_should_be_up_gets_up_at_once_and_stays_up(self, tmp_path, start):
        lived(tmp_path / "run", start=start, until="11:30", cast=CAST[:1], engine=ScriptedEngine(ready={}))
        spans = actions(tmp_path / "run", NAMES[0])
        assert all(one[1] == other[0] for one, other in pairwise(spans))
        assert SLEEPING not in [text for _, _, text, _ in spans[1:]]

    @pytest.mark.parametrize("seconds", [1, 7, 45, 600])
    def test_a_step_may_have_any_length(self, tmp_path, seconds):
        folder = tmp_path / "run"
        lived(folder, start="06:20", until="07:20" if seconds < 45 else "09:00", step_seconds=seconds)
        for name in NAMES:
            ups = rows(folder, "SELECT count(*) FROM events WHERE agent = ? AND kind = 'wake'", name)[0][0]
            assert ups <= 1
            assert all(0 <= later[0] - sooner[1] < seconds for sooner, later in pairwise(actions(folder, name)))

    @pytest.mark.parametrize(
        ("wake", "sleep"), [("00:30", "10:00"), ("12:00", "01:00"), ("00:30", "24:00"), ("9:07", "22:03")]
    )
    def test_people_of_unusual_hours_sleep_once_a_day(self, tmp_path, wake, sleep):
        person = somebody(wake=wake, sleep=sleep)
        engine = ScriptedEngine(ready={})
        lived(tmp_path / "run", until="day 3 02:00", cast=(person,), step_seconds=300, engine=engine)
        spans = actions(tmp_path / "run", person.name)
        nights = [(start, end) for start, end, text, _ in spans if text == SLEEPING]
        assert 2 <= len(nights) <= 3
        assert SimTime(nights[-1][0]).day_number(START) >= 2
        for start, end in nights:
            assert end - start >= 25 * MINUTE
            assert abs(SimTime(end).second_of_day - parse_clock(wake)) <= 95 * MINUTE
