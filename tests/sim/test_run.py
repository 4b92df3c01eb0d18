"""A run is a function of its settings and its seed: in one go or in pieces, whatever order its answers come in."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from localville.errors import EngineError, RunError, RunExists, RunNotFound
from localville.llm.engine import Answer, Ask, Ticket
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import HashingEmbedder
from localville.record.reader import RunReader
from localville.sim.facts import StepFacts
from localville.sim.run import Run
from tests.people import street
from tests.sim.living import Shuffled, Wrapped, begin, live, lived, resume, rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A morning of the street, lived in one go, with its log hash."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return folder, lived(folder)


class TestSameSeed:
    def test_the_same_settings_give_the_same_hash(self, whole, tmp_path):
        assert lived(tmp_path / "again") == whole[1]

    def test_the_hash_can_be_computed_again_from_the_record(self, whole):
        with RunReader.open(whole[0]) as reader:
            assert reader.check_hashes() == whole[1]

    def test_another_seed_gives_another(self, whole, tmp_path):
        assert lived(tmp_path / "other", seed=1) != whole[1]

    def test_all_but_wall_time_and_version_is_the_same(self, whole, tmp_path):
        lived(tmp_path / "again")
        for table in ("memories", "actions", "plans", "positions", "object_states", "checkpoint", "events", "steps"):
            assert rows(tmp_path / "again", f"SELECT * FROM {table}") == rows(whole[0], f"SELECT * FROM {table}")


class TestInPieces:
    @pytest.mark.parametrize("pieces", [(0,), (1,), (2, 1, 1), (30,), (7, 31, 20)], ids=str)
    def test_stopped_and_gone_on_it_is_the_same_run(self, whole, tmp_path, pieces):
        folder = tmp_path / "pieces"
        live(begin(folder), pieces[0])
        for steps in pieces[1:]:
            live(resume(folder), steps)
        assert live(resume(folder)) == whole[1]

    def test_stopped_after_every_step_it_is_the_same_run(self, tmp_path):
        expected = lived(tmp_path / "whole", until="06:40")
        live(begin(tmp_path / "pieces", until="06:40"), 0)
        for _ in range(200):
            run = resume(tmp_path / "pieces")
            finished = run.finished
            ended = live(run, 1)
            if finished:
                break
        assert ended == expected

    def test_a_finished_run_has_nothing_to_go_on_with(self, whole):
        before = rows(whole[0], "SELECT count(*) FROM steps")
        run = resume(whole[0])
        assert run.finished
        assert live(run) == whole[1]
        assert rows(whole[0], "SELECT count(*) FROM steps") == before

    def test_lived_further_it_is_as_if_it_had_been_meant_to(self, whole, tmp_path):
        live(begin(tmp_path / "short", until="07:10"))
        run = resume(tmp_path / "short")
        with RunReader.open(whole[0]) as reader:
            run.config = run.config.model_copy(update={"until": reader.manifest["config"]["until"]})
        assert live(run) == whole[1]

    def test_the_state_comes_back_as_it_was(self, tmp_path):
        run = begin(tmp_path / "run")
        live(run, 60)
        again = resume(tmp_path / "run")
        again.close()
        assert (again.state.now, again.state.step) == (run.state.now, run.state.step)
        assert [agent.to_json() for agent in again.state.agents] == [agent.to_json() for agent in run.state.agents]
        for one, other in zip(again.state.agents, run.state.agents, strict=True):
            assert list(one.stream) == list(other.stream)
        assert again.state.object_states == run.state.object_states

    def test_a_folder_that_is_in_use_is_not_written_over(self, whole):
        with pytest.raises(RunExists):
            begin(whole[0])

    def test_another_embedder_is_refused_in_words(self, tmp_path):
        live(begin(tmp_path / "run"), 1)
        with pytest.raises(RunError, match="vectors of 384 numbers, this embedder makes 8"):
            Run.resume(tmp_path / "run", street(), ScriptedEngine(), HashingEmbedder(8))

    def test_a_folder_that_is_no_run_cannot_be_gone_on_with(self, tmp_path):
        with pytest.raises(RunNotFound):
            resume(tmp_path / "nothing")


class OneAtATime(Wrapped):
    """Gives the answer to one question at a time, the oldest first, as an engine with one slot does."""

    def __init__(self) -> None:
        super().__init__()
        self.ready: list[tuple[Ticket, Answer]] = []

    def poll(self) -> list[tuple[Ticket, Answer]]:
        self.ready += self.inner.poll()
        now, self.ready = self.ready[:1], self.ready[1:]
        return now


class Tiring(Wrapped):
    """Fails for good at the n-th question."""

    def __init__(self, asks: int) -> None:
        super().__init__()
        self.left = asks

    def submit(self, ask: Ask, seed: int) -> Ticket:
        self.left -= 1
        if self.left < 0:
            raise EngineError("the model is tired")
        return super().submit(ask, seed)


class TestOrder:
    @pytest.mark.parametrize("seed", range(2))
    def test_the_order_of_answers_does_not_matter(self, whole, tmp_path, seed):
        assert lived(tmp_path / "run", engine=Shuffled(seed)) == whole[1]

    def test_the_number_of_slots_does_not_matter(self, whole, tmp_path):
        assert lived(tmp_path / "run", engine=OneAtATime()) == whole[1]


def begin_and_leave(folder: Path, engine: Wrapped) -> Path:
    """Makes a run without a step."""
    begin(folder, engine=engine).close()
    return folder


def whole_record(folder: Path) -> list[object]:
    """Every row that a step may write or change."""
    tables = ("steps", "events", "memories", "accesses", "positions", "actions", "plans", "object_states", "checkpoint")
    return [rows(folder, f"SELECT * FROM {table}") for table in tables]


class TestFaults:
    @pytest.mark.parametrize("asks", [0, 6, 12, 20])
    def test_a_step_that_fails_leaves_the_record_at_the_step_before(self, whole, tmp_path, asks):
        folder = tmp_path / "run"
        contents: list[list[object]] = [whole_record(begin_and_leave(folder, Tiring(asks)))]
        run = resume(folder, Tiring(asks))

        def watch(run: object, facts: StepFacts | None) -> None:
            if facts is not None:
                contents.append(whole_record(folder))

        with pytest.raises(EngineError, match="tired"):
            run.live(watch)
        run.close()
        assert whole_record(folder) == contents[-1]
        assert len(rows(folder, "SELECT * FROM steps")) == len(contents) - 1
        assert live(resume(folder)) == whole[1]


class TestOffline:
    def test_a_town_is_lived_without_a_socket(self, whole, tmp_path, monkeypatch):
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("localville runs offline")

        for name in ("socket", "create_connection", "getaddrinfo", "create_server"):
            monkeypatch.setattr(socket, name, refuse)
        assert lived(tmp_path / "run") == whole[1]


class TestAccount:
    def test_every_question_is_recorded_with_its_answer(self, tmp_path):
        engine = ScriptedEngine()
        run = begin(tmp_path / "run", engine=engine)
        live(run)
        assert run.totals.asks == len(engine.asks) == rows(tmp_path / "run", "SELECT count(*) FROM asks")[0][0]
        assert run.totals.retries == 0
        recorded = rows(tmp_path / "run", "SELECT purpose FROM asks")
        assert sorted(purpose for (purpose,) in recorded) == sorted(ask.purpose for ask in engine.asks)

    def test_no_text_is_rated_twice(self, whole, tmp_path):
        engine = ScriptedEngine()
        lived(tmp_path / "run", engine=engine)
        rated = [ask.prompt.text() for ask in engine.asks if ask.purpose == "importance"]
        assert len(rated) == len(set(rated))

    def test_every_part_of_every_prompt_is_kept(self, whole):
        keys = {key for (key,) in rows(whole[0], "SELECT key FROM prompt_parts")}
        used = {key for (prompt,) in rows(whole[0], "SELECT prompt FROM asks") for key in json.loads(prompt)}
        assert used == keys
