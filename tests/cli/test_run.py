"""`localville run`, `resume` and `list`: what users type, what they get, and one line for whatever is wrong."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from localville.assets import maps_dir, personas_dir
from localville.cli.live import LiveScreen
from localville.memory import embed
from localville.sim.facts import StepFacts
from localville.sim.run import Run
from tests.cli.calling import call, call_main

SHORT = ("--model", "scripted", "--until", "06:20", "--step-seconds", "60", "--agents", "isabella")
HEAVY = ("torch", "llama_cpp", "faiss", "outlines", "transformers", "sentence_transformers", "pydantic", "llguidance")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and a cache without any weights."""
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def fault(monkeypatch, capfd):
    """Runs a command that must fail: exit code 1, one line on stderr, nothing on stdout. Returns the line."""

    def run(*arguments: object) -> str:
        code, out, err = call_main(monkeypatch, capfd, *arguments)
        assert (code, out) == (1, ""), (code, out, err)
        lines = err.splitlines()
        assert len(lines) == 1, err
        assert lines[0].startswith("localville: ")
        return lines[0]

    return run


@pytest.fixture
def town(elsewhere: Path) -> Path:
    """A copy of the cafe scenario that tests may spoil."""
    shutil.copytree(personas_dir() / "cafe", elsewhere / "cafe")
    return Path(shutil.copy(personas_dir() / "cafe.toml", elsewhere / "cafe.toml"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def hash_of(folder: str) -> str:
    connection = sqlite3.connect(Path(folder) / "run.db")
    try:
        return connection.execute("SELECT hash FROM steps ORDER BY step DESC").fetchone()[0]
    finally:
        connection.close()


class TestRun:
    def test_it_lives_a_scenario_and_shows_it(self):
        code, out, err = call("run", "cafe", *SHORT, "--out", "mine")
        assert code == 0
        assert "Isabella Rodriguez, Monday, 13 February 2023" in out
        assert "log hash " + hash_of("mine") in out
        assert "06:00  Isabella Rodriguez" in err

    def test_for_machines_it_prints_json_and_nothing_else(self):
        found = json.loads(call("run", "cafe", *SHORT, "--out", "mine", "--json").out)
        assert found["log_hash"] == hash_of("mine")
        assert found["retries"] == 0

    def test_runs_without_a_name_are_numbered(self):
        for number in (1, 2):
            call("run", "cafe", *SHORT)
            assert Path(f"runs/cafe-{number}/run.db").is_file()

    def test_the_seed_decides(self):
        for name, seed in (("a", 1), ("b", 1), ("c", 2)):
            call("run", "cafe", *SHORT, "--seed", seed, "--out", name)
        assert hash_of("a") == hash_of("b") != hash_of("c")

    def test_slots_and_threads_decide_nothing(self):
        call("run", "cafe", *SHORT, "--out", "a", "--slots", "1", "--threads", "1")
        call("run", "cafe", *SHORT, "--out", "b", "--slots", "64")
        assert hash_of("a") == hash_of("b")

    def test_days_are_counted_to_midnight(self):
        late = ("--start", "23:30", "--step-seconds", "600")
        call("run", "cafe", "--model", "scripted", "--days", "1", *late, "--out", "a")
        (row,) = json.loads(call("list", ".", "--json").out)
        assert row["until"] == "2023-02-14 00:00:00"

    def test_the_default_scenario_is_the_cafe(self):
        assert call("run", *SHORT).code == 0

    def test_a_scenario_by_path_is_lived_with_its_own_cast(self, town):
        edit(town.parent / "cafe" / "isabella_rodriguez.toml", 'wake = "06:00"', 'wake = "06:30"')
        assert call("run", town, *SHORT, "--out", "mine").code == 0

    def test_what_determines_it_is_written_down(self):
        import tomllib

        call("run", "cafe", *SHORT, "--out", "mine", "--seed", "5")
        written = tomllib.loads(Path("mine/run.toml").read_text(encoding="utf-8"))
        assert written["config"]["seed"] == 5
        assert written["config"]["agents"] == ["Isabella Rodriguez"]
        assert set(written["map"]) == {"file", "sha256"}
        assert written["versions"]["numpy"]


class TestFaults:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("caffe",), "Did you mean 'cafe'"),
            (("nowhere.toml",), "nowhere.toml: the file does not exist"),
            (("cafe", "--agents", "Isabela"), "Did you mean 'Isabella'"),
            (("cafe", "--agents", "isabella,zzz"), "The cast: "),
            (("cafe", "--agents", "isa\nbella"), "names nobody"),
            (("cafe", "--model", "gpt-17"), "gpt-17"),
            (("cafe", "--model", "missing.gguf"), "missing.gguf"),
            (("cafe", "--model", "qwen2.5-coder-1.5b-instruct-q4_k_m"), "localville models pull"),
            (("cafe", "--model", "all-MiniLM-L6-v2"), "is an embedder"),
            (("cafe",), "localville models pull"),
            (("cafe", "--until", "05:00"), "before it begins"),
            (("cafe", "--until", "06:00"), "before it begins"),
            (("cafe", "--start", "14:00"), "before it begins"),
            (("cafe", "--until", "tomorrow"), "is no moment"),
            (("cafe", "--start", "six"), "is no moment"),
            (("cafe", "--days", "2", "--until", "13:00"), "--days and --until"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_one_line_says_what_is_wrong_and_nothing_is_left_behind(self, fault, elsewhere, arguments, says):
        scripted = () if "--model" in arguments or "pull" in says else ("--model", "scripted")
        assert says in fault("run", *arguments, *scripted)
        assert list(elsewhere.iterdir()) == []

    def test_a_folder_that_is_there(self, fault):
        call("run", "cafe", *SHORT, "--out", "mine")
        before = hash_of("mine")
        assert "mine" in fault("run", "cafe", *SHORT, "--out", "mine")
        assert hash_of("mine") == before

    def test_a_folder_that_cannot_be_made(self, fault, elsewhere):
        (elsewhere / "file").write_text("")
        assert "file" in fault("run", "cafe", *SHORT, "--out", "file/run")

    @pytest.mark.parametrize(
        "content", [bytes(5000), b"", b"GG", b"<html>not found</html>"], ids=["zeros", "empty", "short", "page"]
    )
    def test_weights_that_are_no_gguf(self, fault, elsewhere, content):
        (elsewhere / "bad.gguf").write_bytes(content)
        line = fault("run", "cafe", "--model", "bad.gguf", "--until", "06:20")
        assert "bad.gguf" in line
        assert "GGUF" in line

    def test_weights_that_are_cut_off(self, fault, elsewhere, monkeypatch):
        """The head is that of a GGUF; that the rest is missing shows when llama.cpp loads it."""
        monkeypatch.setattr(embed, "SentenceEmbedder", lambda path: embed.HashingEmbedder())
        monkeypatch.setattr("localville.llm.catalog.embedder_path", lambda: elsewhere)
        head = b"GGUF" + (3).to_bytes(4, "little") + (200).to_bytes(8, "little") + (20).to_bytes(8, "little")
        (elsewhere / "cut.gguf").write_bytes(head + bytes(1000))
        assert "cut.gguf" in fault("run", "cafe", "--model", "cut.gguf", "--until", "06:20")
        assert not (elsewhere / "runs").exists()

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ('map = "hobbs"', 'map = "hobs"', "Did you mean 'hobbs'"),
            ('map = "hobbs"', 'map = "gone.tmj"', "gone.tmj"),
            ('map = "hobbs"', 'map = "cafe.toml"', "cafe.toml"),
            ('map = "hobbs"', 'map = "bad.tmj"', "bad.tmj"),
            ('cast = "cafe"', 'cast = "nobody"', "nobody"),
            ('date = "2023-02-13"', 'date = "2023-02-30"', "2023-02-30"),
            ('start = "06:00"', 'start = "dawn"', "dawn"),
            ('until = "13:00"', 'until = "noon"', "noon"),
            ("title =", "tittle =", "Did you mean 'title'"),
        ],
    )
    def test_a_scenario_that_cannot_be_used(self, fault, town, old, new, says):
        (town.parent / "bad.tmj").write_text("{}", encoding="utf-8")
        edit(town, old, new)
        assert says in fault("run", town, "--model", "scripted")

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("age = 34", 'age = "34 years"', "'age'"),
            ("age = 34", "agge = 34", "Did you mean 'age'"),
            ('home = "Isabella\'s apartment"', "", "'home'"),
            ('home = "Isabella\'s apartment"', 'home = "Isabellas apartment"', "Isabella's apartment"),
            ('home = "Isabella\'s apartment"', 'home = "Park"', "bed"),
            ('workplace = "Hobbs Cafe"', 'workplace = "Hobs Cafe"', "Hobbs Cafe"),
            ('known_places = ["Park"]', 'known_places = ["Prak"]', "Park"),
            ('wake = "06:00"', 'wake = "19:00"', "too short"),
            ('name = "Isabella Rodriguez"', 'name = "Maria Lopez"', "two files"),
            ("name =", "name", "TOML"),
        ],
    )
    def test_a_persona_that_cannot_be_used(self, fault, town, old, new, says):
        edit(town.parent / "cafe" / "isabella_rodriguez.toml", old, new)
        assert says in fault("run", town, "--model", "scripted")
        assert not (town.parent / "runs").exists()

    def test_escape_sequences_do_not_reach_the_terminal(self, fault):
        assert "\x1b]" not in fault("run", "cafe", "--model", "scripted", "--agents", "\x1b]0;mine\x07")


class TestResume:
    def test_a_finished_run_can_be_lived_further(self):
        call("run", "cafe", *SHORT, "--out", "short")
        assert call("resume", "short", "--until", "06:40").code == 0
        call("run", "cafe", *SHORT[:3], "06:40", *SHORT[4:], "--out", "long")
        assert hash_of("short") == hash_of("long")

    def test_a_finished_run_stays_as_it_is(self):
        call("run", "cafe", *SHORT, "--out", "mine")
        before = hash_of("mine")
        assert call("resume", "mine").code == 0
        assert hash_of("mine") == before

    def test_what_is_no_run(self, fault, elsewhere):
        assert "nothing" in fault("resume", "nothing")
        (elsewhere / "empty").mkdir()
        assert "empty" in fault("resume", "empty")

    def test_a_spoiled_run(self, fault, elsewhere):
        call("run", "cafe", *SHORT, "--out", "mine")
        Path("mine/run.toml").write_text("= broken", encoding="utf-8")
        assert "run.toml" in fault("resume", "mine")
        Path("mine/run.db").write_bytes(b"no database at all" * 100)
        assert "mine" in fault("resume", "mine")

    def test_a_map_that_has_changed_is_refused(self, fault, town):
        own = Path(shutil.copy(maps_dir() / "hobbs.tmj", town.parent / "own.tmj"))
        for sheet in maps_dir().glob("*.tsj"):
            shutil.copy(sheet, town.parent)
        edit(town, 'map = "hobbs"', 'map = "own.tmj"')
        call("run", town, *SHORT, "--out", "mine")
        own.write_text(own.read_text(encoding="utf-8") + " ", encoding="utf-8")
        assert "own.tmj" in fault("resume", "mine", "--until", "07:00")


class TestInterrupt:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("times", [1, 2])
    def test_it_ends_saved_and_gone_on_with_it_is_the_same_run(self, monkeypatch, capfd, number, times):
        call("run", "cafe", *SHORT, "--out", "whole")
        screen = LiveScreen.__call__

        def watch(self: LiveScreen, run: Run, facts: StepFacts | None) -> None:
            screen(self, run, facts)
            if facts is not None and facts.number == 5:
                for _ in range(times):
                    signal.raise_signal(number)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LiveScreen, "__call__", watch)
            code, _, err = call_main(monkeypatch, capfd, "run", "cafe", *SHORT, "--out", "mine")
        assert code == 130
        assert "Traceback" not in err
        assert ("localville resume mine" if times == 1 else "once more ends at once") in err
        assert hash_of("mine") != hash_of("whole")
        assert call("resume", "mine").code == 0
        assert hash_of("mine") == hash_of("whole")


class TestList:
    def test_it_tells_what_there_is(self, elsewhere):
        call("run", "cafe", *SHORT, "--seed", "3")
        (elsewhere / "runs" / "notes").mkdir()
        out = call("list").out
        assert "runs/cafe-1" in out
        assert "cafe, scripted, seed 3" in out
        assert len(out.splitlines()) == 1

    def test_without_runs_it_says_how_to_begin_one(self):
        code, out, _ = call("list")
        assert code == 0
        assert "localville run" in out
        assert json.loads(call("list", "--json").out) == []

    def test_a_spoiled_run_does_not_hide_the_others(self):
        call("run", "cafe", *SHORT)
        call("run", "cafe", *SHORT)
        Path("runs/cafe-1/run.toml").unlink()
        assert len(call("list").out.splitlines()) == 2


class TestHelp:
    def test_it_imports_nothing_heavy(self):
        code = "import sys; from localville.cli.main import app\ntry: app(['--help'])\nexcept SystemExit: pass\n"
        code += f"print('heavy:', *[name for name in {HEAVY!r} if name in sys.modules])"
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert shown.splitlines()[-1].strip() == "heavy:"

    @pytest.mark.parametrize("command", ["run", "resume", "list", "show", "memories"])
    def test_every_command_says_what_it_does(self, command):
        assert "Usage:" in call(command, "--help").out

    @pytest.mark.parametrize(
        "arguments", [("rnu",), ("run", "--step-seconds", "0"), ("run", "--seed", "x"), ("resume",)], ids=" ".join
    )
    def test_what_cannot_be_understood_is_exit_code_2(self, monkeypatch, capfd, arguments):
        assert call_main(monkeypatch, capfd, *arguments).code == 2
