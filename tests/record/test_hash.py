"""The log hash: equal for runs that lived the same, and telling for anything that was changed afterwards."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from localville.errors import RunCorrupt
from localville.record.hash import ORIGIN, link
from localville.record.reader import RunReader
from localville.record.tables import TABLES
from tests.record.recorded import PARTS, START, ask_row, memory_row, new_store, record, rows, some_rows, tamper


def check(folder: Path) -> str:
    with RunReader.open(folder) as reader:
        return reader.check_hashes()


@pytest.fixture
def run(tmp_path):
    record(tmp_path / "run", 3)
    return tmp_path / "run"


class TestRecomputing:
    def test_it_gives_the_recorded_end(self, tmp_path):
        assert record(tmp_path / "run", 3) == check(tmp_path / "run")

    def test_a_run_without_a_step_ends_where_all_begin(self, tmp_path):
        new_store(tmp_path).close()
        assert check(tmp_path) == ORIGIN

    def test_it_survives_a_vacuum(self, run):
        before = check(run)
        tamper(run, "DELETE FROM checkpoint")
        connection = sqlite3.connect(run / "run.db")
        connection.execute("VACUUM")
        connection.close()
        assert check(run) == before

    def test_the_first_links_are_pinned(self):
        """A change of the hash makes runs of two versions incomparable: raise the number in its origin then."""
        assert ORIGIN == "85ddc2f848da6853eca01f71fe3b0090a8d5db5ac8de999ff519e8beb17a0306"
        assert (
            link(ORIGIN, 0, START.seconds, some_rows())
            == "066acd6d687a22cf6692d320c4d5fb4bc74435aa963471184dc9abd696172940"
        )


class TestTampering:
    @pytest.mark.parametrize(
        ("table", "column"), [(name, column) for name, table in TABLES.items() for column in table.facts]
    )
    def test_a_changed_fact_is_found_and_its_step_named(self, run, table, column):
        row, value = rows(run, f'SELECT rowid, "{column}" FROM {table} WHERE step = 1')[0]
        if column == "kind" and table == "memories":
            changed = "chat"
        elif column == "level":
            changed = "hours"
        elif isinstance(value, bytes):
            changed = bytes([value[0] ^ 1]) + value[1:]
        else:
            changed = value + 5 if isinstance(value, int) else f"{value[:-1]}{chr(ord(value[-1]) ^ 1)}"
        tamper(run, f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', changed, row)
        with pytest.raises(RunCorrupt, match=r"run\.db: step 1 does not match its hash\. It is not as it was lived"):
            check(run)

    @pytest.mark.parametrize("table", TABLES)
    def test_a_row_that_is_gone_is_found(self, run, table):
        tamper(run, f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table} WHERE step = 1)")
        with pytest.raises(RunCorrupt, match="step 1 "):
            check(run)

    def test_a_row_too_many_is_found(self, run):
        tamper(run, "INSERT INTO events VALUES (2, 'Ada Lovelace', 'act', 'Ada is elsewhere')")
        with pytest.raises(RunCorrupt, match="step 2 "):
            check(run)

    def test_rows_in_another_order_are_found(self, run):
        tamper(run, "UPDATE events SET rowid = rowid + 1000 WHERE step = 0 AND kind = 'act'")
        with pytest.raises(RunCorrupt, match="step 0 "):
            check(run)

    @pytest.mark.parametrize("change", ["at = at + 1", "hash = replace(hash, substr(hash, 1, 1), 'x')"])
    def test_a_changed_step_is_found(self, run, change):
        tamper(run, f"UPDATE steps SET {change} WHERE step = 1")
        with pytest.raises(RunCorrupt, match="step 1 "):
            check(run)

    def test_a_step_that_is_gone_is_found_at_the_next(self, run):
        for table in ("steps", *TABLES):
            tamper(run, f"DELETE FROM {table} WHERE step = 1")
        with pytest.raises(RunCorrupt, match="step 2 "):
            check(run)

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("step", [-1, 3])
    def test_rows_of_a_step_that_was_not_lived_are_found(self, run, table, step):
        columns = ", ".join(f'"{column}"' for column in TABLES[table].columns)
        changed = columns.replace('"id"', '"id" + 100')
        tamper(
            run,
            f"INSERT INTO {table} (step, {columns}) SELECT {step}, {changed} FROM {table} WHERE step = 1 LIMIT 1",
        )
        with pytest.raises(RunCorrupt, match=f"table {table} has rows of a step {step} that was not lived"):
            check(run)

    def test_a_last_step_that_is_gone_leaves_its_rows(self, run):
        tamper(run, "DELETE FROM steps WHERE step = 2")
        with pytest.raises(RunCorrupt, match="a step 2 that was not lived"):
            check(run)

    @pytest.mark.parametrize("change", ["text = text || '.'", "role = 'assistant'"])
    def test_a_changed_prompt_is_found(self, run, change):
        tamper(run, f"UPDATE prompt_parts SET {change} WHERE key = ?", PARTS[0].key)
        with pytest.raises(RunCorrupt, match=f"the piece of a prompt {PARTS[0].key} does not match its key"):
            check(run)


class TestFacts:
    """What belongs to the hash and what does not."""

    def test_wall_seconds_tokens_and_attempts_do_not(self):
        quick, slow = ask_row(seconds=0.1, tokens=1), ask_row(seconds=9.9, tokens=99)
        assert link(ORIGIN, 0, 0, {"asks": [quick]}) == link(ORIGIN, 0, 0, {"asks": [slow]})

    def test_the_answer_does(self):
        assert link(ORIGIN, 0, 0, {"asks": [ask_row(answer="3")]}) != link(
            ORIGIN, 0, 0, {"asks": [ask_row(answer="4")]}
        )

    def test_the_last_access_of_a_memory_does_not_since_accesses_tell_it(self):
        early, late = (memory_row("Ada", 1, "seen", last_access=second) for second in (0, 99))
        assert link(ORIGIN, 0, 0, {"memories": [early]}) == link(ORIGIN, 0, 0, {"memories": [late]})

    def test_the_order_of_rows_does(self):
        one, other = ("Ada", "act", "a"), ("Ada", "act", "b")
        assert link(ORIGIN, 0, 0, {"events": [one, other]}) != link(ORIGIN, 0, 0, {"events": [other, one]})

    def test_the_order_in_which_tables_are_given_does_not(self):
        given = some_rows()
        assert link(ORIGIN, 0, 0, given) == link(ORIGIN, 0, 0, dict(reversed(given.items())))

    def test_an_empty_table_is_as_good_as_none(self):
        assert link(ORIGIN, 0, 0, {"events": []}) == link(ORIGIN, 0, 0, {})

    @pytest.mark.parametrize(
        "other", [(ORIGIN[::-1], 0, 0), (ORIGIN, 1, 0), (ORIGIN, 0, 1)], ids=["before", "step", "at"]
    )
    def test_the_link_before_the_step_and_its_time_do(self, other):
        assert link(*other, {}) != link(ORIGIN, 0, 0, {})

    def test_borders_between_columns_do(self):
        assert link(ORIGIN, 0, 0, {"events": [("A", "b", "c")]}) != link(ORIGIN, 0, 0, {"events": [("A", "bc", "")]})
        newline = {"events": [("A", "b", 'c"]\n["events","A","b","c')]}
        assert link(ORIGIN, 0, 0, newline) != link(ORIGIN, 0, 0, {"events": [("A", "b", "c")] * 2})

    @pytest.mark.parametrize("value", [None, 1.0, True], ids=repr)
    def test_a_value_that_sqlite_would_give_back_as_another_is_refused(self, value):
        with pytest.raises(TypeError, match="a fact of 'positions' is text, an integer or bytes"):
            link(ORIGIN, 0, 0, {"positions": [("Ada", value, 0)]})
