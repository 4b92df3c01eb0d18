"""Reading a run: with localville, and with plain SQLite; and saying what is wrong with one that cannot be read."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from localville.clock import SimTime
from localville.errors import RunCorrupt, RunNotFound
from localville.memory.stream import Memory, MemoryKind
from localville.record.reader import Line, RunReader
from localville.record.tables import TABLES
from tests.record.recorded import (
    AGENTS,
    MANIFEST,
    PARTS,
    START,
    VECTOR,
    new_store,
    record,
    rows,
    some_rows,
    state,
    tamper,
)

ADA, ZOE = (name for name, _ in AGENTS)


@pytest.fixture
def run(tmp_path):
    record(tmp_path / "run", 3)
    return tmp_path / "run"


@pytest.fixture
def reader(run):
    with RunReader.open(run) as reader:
        yield reader


class TestReading:
    def test_settings_and_people(self, reader):
        assert reader.manifest == MANIFEST
        assert reader.agents() == [ADA, ZOE]
        assert reader.personas() == [persona for _, persona in AGENTS]

    def test_the_last_step(self, reader, tmp_path):
        assert reader.last_step() == (2, START + 120, record(tmp_path / "again", 3))

    def test_a_run_without_a_step_says_how_to_go_on(self, tmp_path):
        new_store(tmp_path).close()
        with RunReader.open(tmp_path) as reader, pytest.raises(RunCorrupt, match=f"localville resume {tmp_path}"):
            reader.last_step()

    def test_a_timeline_is_in_the_order_of_time(self, reader):
        first, *rest = reader.timeline(ADA)
        assert first == Line(START.seconds, START.seconds + 60, "📖", "reading", "House", "room", "desk", "in use")
        assert [line.start - START.seconds for line in rest] == [60, 120]
        assert reader.timeline(ZOE) == reader.timeline("nobody") == []

    def test_the_latest_plan_alone(self, reader):
        assert reader.plan(ADA) == [(21_600, 43_200, "reading", "House"), (43_200, 86_400, "walking", "Park")]
        assert reader.plan(ZOE) == []

    def test_memories_come_back_as_they_were_with_their_vectors(self, reader):
        memories = reader.memories(ADA)
        access = [START, START + 60, START + 120]  # each was retrieved in the step that made it
        assert [memory for memory, _ in memories] == [
            Memory(
                number + 1,
                MemoryKind.OBSERVATION,
                f"Ada reads page {number}",
                START,
                access[number],
                3,
                (),
                (),
                1 + (number == 0),
            )
            for number in range(3)
        ]
        for _, vector in memories:
            assert vector.dtype == np.float32
            assert vector.tobytes() == VECTOR.tobytes()

    @pytest.mark.parametrize(("later", "known"), [(-1, 0), (0, 1), (59, 1), (60, 2), (119, 2), (10_000, 3)])
    def test_memories_can_be_had_as_they_were_at_a_moment(self, tmp_path, later, known):
        """Step n makes memory n + 1, retrieves it and the first, and sees the one before again."""
        store, then = new_store(tmp_path), {}
        for number in range(3):
            at, name = START + 60 * number, f"Ada reads page {number}"
            row = (ADA, number + 1, "observation", name, at.seconds, at.seconds, 3, "[]", "[]", 1, VECTOR.tobytes())
            touched = [(ADA, memory) for memory in sorted({1, number + 1})]
            again = [(ADA, number)] if number else []
            store.write_step(number, at, {"memories": [row], "accesses": touched, "repeats": again})
            with RunReader.open(tmp_path) as reader:
                then[number + 1] = [memory for memory, _ in reader.memories(ADA)]
        store.close()
        with RunReader.open(tmp_path) as reader:
            found = [memory for memory, _ in reader.memories(ADA, START + later)]
        assert found == then.get(known, [])

    def test_evidence_comes_back(self, tmp_path):
        store = new_store(tmp_path)
        row = (ADA, 3, "reflection", "insight", START.seconds, START.seconds, 8, "[1, 2]", "[]", 1, VECTOR.tobytes())
        store.write_step(0, START, {"memories": [row]})
        store.close()
        with RunReader.open(tmp_path) as reader:
            assert reader.memories(ADA)[0][0].evidence == (1, 2)

    def test_totals_by_purpose(self, reader):
        assert reader.totals() == [("importance", 3, 0, 30, 6, 3, 9, 0.75)]

    def test_the_checkpoint_is_the_latest_of_everybody(self, run):
        with RunReader.open(run) as reader:
            assert reader.checkpoint() == dict(state(2))

    def test_those_who_have_not_changed_keep_theirs(self, tmp_path):
        store = new_store(tmp_path)
        store.write_step(0, START, {}, (), [(ADA, {"a": 1}), (ZOE, {"z": 1}), ("", {"now": 0})])
        store.write_step(1, START + 60, {}, (), [(ZOE, {"z": None, "text": "“é” 😀\n"}), ("", {"now": 60})])
        store.close()
        with RunReader.open(tmp_path) as reader:
            assert reader.checkpoint() == {ADA: {"a": 1}, ZOE: {"z": None, "text": "“é” 😀\n"}, "": {"now": 60}}
        assert rows(tmp_path, "SELECT agent, step FROM checkpoint ORDER BY agent") == [("", 1), (ADA, 0), (ZOE, 1)]

    def test_nothing_is_written(self, run, reader):
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        reader.check_hashes()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("DELETE FROM steps")
        assert {path.name: path.read_bytes() for path in run.iterdir()} == before


class TestPlainSqlite:
    @pytest.fixture
    def plain(self, run):
        connection = sqlite3.connect(run / "run.db")
        yield connection
        connection.close()

    def test_the_timeline_reads_like_a_diary(self, plain):
        assert plain.execute("SELECT * FROM timeline").fetchone() == (
            *(ADA, "2023-02-13", "06:00", "06:01", "📖"),
            *("reading", "House", "room", "desk", "in use"),
        )

    def test_memories_can_be_listed_without_vectors(self, plain):
        expected = (ADA, 1, "observation", "2023-02-13 06:00:00", 3, 2, "Ada reads page 0")
        assert plain.execute("SELECT * FROM memory_lines").fetchone() == expected

    def test_what_the_model_was_asked_can_be_summed(self, plain):
        cursor = plain.execute("SELECT * FROM totals")
        assert [column[0] for column in cursor.description][:3] == ["purpose", "asks", "retries"]
        assert cursor.fetchall() == [("importance", 3, 0, 30, 6, 3, 9, 0.75)]

    def test_a_prompt_can_be_put_together(self, plain):
        query = """SELECT group_concat(part.text, '') FROM asks, json_each(asks.prompt) AS piece
                   JOIN prompt_parts AS part ON part.key = piece.value WHERE asks.step = 0 ORDER BY piece.key"""
        assert plain.execute(query).fetchone() == ("".join(part.text for part in PARTS),)

    def test_every_table_and_view_says_what_it_is(self, plain):
        described = plain.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        assert len(described) >= len(TABLES)
        for name, sql in described:
            first = sql.splitlines()[0]
            assert "--" in first and len(first.split("--")[1].split()) >= 3, f"{name} has no comment"

    def test_every_table_is_strict(self, plain):
        tables = plain.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        assert {name for name, strict in tables if not strict} <= {"sqlite_schema"}

    def test_the_columns_are_those_the_store_writes(self, plain):
        for name, table in TABLES.items():
            columns = [row[1] for row in plain.execute(f"PRAGMA table_info({name})")]
            assert columns == ["step", *table.columns]
            assert set(table.facts) <= set(table.columns)

    @pytest.mark.parametrize("table", TABLES)
    def test_the_rows_of_a_step_are_found_without_a_scan(self, plain, table):
        (plan,) = plain.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE step = 1 ORDER BY rowid").fetchall()
        assert "USING INDEX" in plan[-1]


class TestCorrupt:
    """Every fault of a run is RunCorrupt, says where, and what to do next."""

    def refusal(self, folder, read=lambda reader: None) -> str:
        def open_and_read():
            with RunReader.open(folder) as reader:
                read(reader)

        with pytest.raises(RunCorrupt) as caught:
            open_and_read()
        assert caught.value.where.startswith(str(folder))
        assert caught.value.next, "say what to do next"
        assert "\n" not in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize(
        "content", [b"no database, but long enough to have a header of its own" * 9, b"", b"SQLite"]
    )
    def test_a_file_that_is_no_database(self, run, content):
        (run / "run.db").write_bytes(content)
        assert "the database cannot be read (" in self.refusal(run)

    def test_another_database(self, run):
        (run / "run.db").unlink()
        connection = sqlite3.connect(run / "run.db")
        connection.execute("CREATE TABLE letters (text)")
        connection.close()
        assert "no such table: meta" in self.refusal(run)

    def test_damaged_pages(self, run):
        content = bytearray((run / "run.db").read_bytes())
        for page in range(4096, len(content), 4096):
            content[page : page + 200] = b"\xff" * 200
        (run / "run.db").write_bytes(content)
        assert "malformed" in self.refusal(run, RunReader.agents)

    def test_a_database_cut_short(self, run):
        content = (run / "run.db").read_bytes()
        (run / "run.db").write_bytes(content[: len(content) // 2])
        assert "malformed" in self.refusal(run, RunReader.check_hashes)

    @pytest.mark.parametrize("version", ["0", "2", "4", "two"])
    def test_another_schema_version(self, run, version):
        tamper(run, "UPDATE meta SET value = ? WHERE key = 'schema_version'", version)
        said = self.refusal(run)
        assert f"schema version {version}, this localville reads 3. Use the version of localville that run.toml" in said

    def test_no_schema_version(self, run):
        tamper(run, "DELETE FROM meta")
        assert "schema version none" in self.refusal(run)

    @pytest.mark.parametrize("content", [b"a = ", b"\xff", b"[a]\n[a]\n"])
    def test_settings_that_cannot_be_read(self, run, content):
        (run / "run.toml").write_bytes(content)
        assert "run.toml: the settings cannot be read" in self.refusal(run)

    def test_settings_that_are_gone(self, run):
        (run / "run.toml").unlink()
        assert "(No such file or directory)" in self.refusal(run)

    @pytest.mark.parametrize(
        ("change", "read"),
        [
            ("UPDATE agents SET persona = 'not json'", RunReader.personas),
            ("UPDATE checkpoint SET state = '{'", RunReader.checkpoint),
            ("UPDATE memories SET embedding = x'0102'", lambda reader: reader.memories(ADA)),
            ("UPDATE memories SET evidence = '[1'", lambda reader: reader.memories(ADA)),
            ("UPDATE memories SET evidence = '3'", lambda reader: reader.memories(ADA)),
            ("UPDATE memories SET text = CAST(x'ff' AS TEXT)", lambda reader: reader.memories(ADA)),
            ("UPDATE prompt_parts SET role = 'narrator'", RunReader.check_hashes),
            ("DROP TABLE actions", lambda reader: reader.timeline(ADA)),
            ("DROP TABLE steps", RunReader.last_step),
        ],
    )
    def test_contents_that_are_not_what_the_schema_says(self, run, change, read):
        tamper(run, change)
        assert "the database cannot be read (" in self.refusal(run, read)

    def test_no_run_at_all(self, tmp_path):
        with pytest.raises(RunNotFound, match="localville list"):
            RunReader.open(tmp_path)


def test_a_reader_sees_steps_as_they_land(tmp_path):
    store = new_store(tmp_path)
    with RunReader.open(tmp_path) as reader:
        for number in range(2):
            store.write_step(number, SimTime(START.seconds + number), some_rows(number), PARTS, state(number))
            assert reader.last_step() == (number, SimTime(START.seconds + number), store.log_hash)
            assert reader.check_hashes() == store.log_hash
    store.close()
