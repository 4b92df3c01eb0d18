"""Record and replay: same answers without a model, and a clear word where a replay leaves the record."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from localville.errors import EngineError, RunCorrupt
from localville.llm.engine import Answer, Ask, Choose, Engine, Part, Prompt, Rate, Ticket, Write, generate
from localville.llm.journal import JournalEngine, ask_key
from localville.llm.scripted import ScriptedEngine
from tests.contracts import NAME, check_engine, sample_asks

PAIRS = [(ask, number) for number, ask in enumerate(sample_asks())]


class Silent(ScriptedEngine):
    """An engine that must not be asked."""

    def submit(self, ask: Ask, seed: int) -> Ticket:
        raise AssertionError(f"asked again: {ask.purpose}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def record(path: Path, engine: Engine | None = None, pairs: list[tuple[Ask, int]] = PAIRS) -> list[Answer]:
    journal = JournalEngine(path, engine or ScriptedEngine())
    answers = generate(journal, pairs)
    journal.close()
    return answers


def test_a_recording_engine_keeps_the_contract(tmp_path: Path) -> None:
    numbers = iter(range(99))
    check_engine(lambda: JournalEngine(tmp_path / f"{next(numbers)}.jsonl", ScriptedEngine()))


def test_a_replay_gives_the_same_answers_to_the_bit_without_a_model(path: Path) -> None:
    recorded = record(path)
    replay = JournalEngine(path)
    assert generate(replay, PAIRS[::-1])[::-1] == recorded
    assert replay.poll() == []
    assert replay.manifest() == {"engine": "scripted", "purposes": [], "journal": "replayed"}
    replay.close()
    replay.close()


def test_what_is_recorded_is_not_asked_again(path: Path) -> None:
    recorded = record(path, pairs=PAIRS[:6])
    assert record(path, Silent(), PAIRS[:6]) == recorded
    more = record(path)
    assert more[:6] == recorded
    assert len(path.read_text().splitlines()) == 1 + len(PAIRS)


def test_a_replay_that_diverges_says_which_ask(path: Path) -> None:
    record(path)
    replay = JournalEngine(path)
    ask, seed = PAIRS[0]
    generate(replay, [(ask, seed)])
    with pytest.raises(
        EngineError, match=r"ask 'contract\.0' with seed 99 was never answered, with another form or seed"
    ):
        replay.submit(ask, 99)
    stranger = Ask("gossip", Prompt((Part("situation", "Who stole the cake?"),)), Rate())
    with pytest.raises(EngineError) as error:
        replay.submit(stranger, 0)
    for said in (str(path), "ask 'gossip'", "not even its prompt", "after 1 that were", "Who stole the cake?"):
        assert said in str(error.value)


def test_the_key_is_all_that_is_asked_and_nothing_else() -> None:
    prompt = Prompt((Part("a", "x"), Part("b", "y")))
    base = Ask("p", prompt, Choose(("a", "b")))
    assert ask_key(base, 0) == ask_key(Ask("p", Prompt((Part("c", "x"), Part("d", "y"))), Choose(("a", "b"))), 0)
    others = [
        (base, 1),
        (dataclasses.replace(base, purpose="q"), 0),
        (dataclasses.replace(base, prompt=Prompt((Part("a", "xy"),))), 0),
        (dataclasses.replace(base, form=Choose(("b", "a"))), 0),
        (dataclasses.replace(base, form=Choose(("a", "b"), temperature=0.1)), 0),
        (dataclasses.replace(base, form=Choose(("a", "b"), baseline=prompt)), 0),
        (dataclasses.replace(base, form=Rate()), 0),
        (dataclasses.replace(base, form=Write(NAME, 9)), 0),
        (dataclasses.replace(base, form=Write(dataclasses.replace(NAME, gbnf='root ::= "a"'), 9)), 0),
    ]
    assert len({ask_key(*pair) for pair in [(base, 0), *others]}) == len(others) + 1
    # Written down, so that a change of the key is noticed: it orphans every journal.
    assert ask_key(base, 0) == KEY


KEY = "300ae0e6de093f2ffc7d382a209a3f0f"


def test_a_line_cut_off_by_a_kill_is_dropped_and_the_file_goes_on(path: Path) -> None:
    recorded = record(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert record(path) == recorded
    assert path.read_bytes() == whole
    path.write_bytes(whole[:10])
    assert record(path) == recorded


def test_a_damaged_file_and_a_missing_one_are_told(path: Path) -> None:
    with pytest.raises(EngineError, match="no journal to replay"):
        JournalEngine(path)
    for text in (
        "hello\n",
        '{"journal": 2}\n',
        "[]\n",
        '{"journal": 1, "manifest": {}}\n',
        '{"journal": 1, "manifest": {"engine": "x"}}\n{"no": "key"}\n',
    ):
        path.write_text(text)
        with pytest.raises(RunCorrupt, match="no journal of answers"):
            JournalEngine(path)


def test_answers_of_two_models_are_not_mixed(path: Path) -> None:
    record(path)
    lines = path.read_text().splitlines()
    lines[0] = json.dumps({"journal": 1, "manifest": {"engine": "llamacpp", "model": {"sha256": "ab"}}})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(EngineError, match="its answers come from llamacpp with ab, not scripted with no model"):
        JournalEngine(path, ScriptedEngine())
