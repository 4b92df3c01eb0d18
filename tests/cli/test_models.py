"""`localville models`: what it prints for people, what for machines, and its exit codes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from localville.cli.models import models_app
from localville.cli.transfer import Transfer
from localville.errors import LicenceNotAccepted, ModelMissing, UnknownModel
from localville.llm import fetch

GGUF = b"GGUF" + bytes(500)
SHA = hashlib.sha256(GGUF).hexdigest()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def own(home: Path, tmp_path: Path) -> Path:
    """A model of the user's own, added under the name `own`."""
    path = tmp_path / "own.gguf"
    path.write_bytes(GGUF)
    assert run("add", str(path)).exit_code == 0
    return path


def run(*arguments: str) -> Result:
    """Runs the command; what it raises is raised here, as main() would see it."""
    result = CliRunner().invoke(models_app, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


class TestList:
    def test_it_shows_name_size_licence_and_whether_we_tested_it(self, home):
        shown = run("list").stdout
        assert "qwen2.5-coder-1.5b-instruct-q4_k_m   1.1 GB  not fetched · default" in shown
        assert "Gemma Terms of Use (conditions) · not tested by us" in shown
        assert "localville models pull NAME" in shown

    def test_json_has_everything_a_script_needs(self, home, own):
        rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
        assert rows["own"]["ready"] is True
        assert rows["own"]["path"] == str(own)
        assert rows["smollm2-135m-instruct-q4_1"]["installed"] is False
        assert rows["smollm2-135m-instruct-q4_1"]["ways"] == {"importance": "channel", "place": "channel"}
        assert rows["all-MiniLM-L6-v2"]["kind"] == "embedder"
        assert [name for name, row in rows.items() if row["default"]] == [
            "qwen2.5-coder-1.5b-instruct-q4_k_m",
            "all-MiniLM-L6-v2",
        ]


class TestPull:
    def test_a_ready_model_is_named_with_its_path(self, home, own):
        assert run("pull", "ow").stdout == f"own is ready: {own}\n"

    def test_a_mistyped_name_stops_everything_before_the_first_byte(self, home, own, monkeypatch):
        monkeypatch.setattr(fetch, "pull", lambda *_, **__: pytest.fail("it fetched"))
        with pytest.raises(UnknownModel, match="Did you mean 'smollm2-135m-instruct-q4_1'"):
            run("pull", "own", "smolm2-135m")

    def test_without_names_the_default_model_and_the_embedder_are_meant(self, home, monkeypatch):
        pulled = []
        monkeypatch.setattr(fetch, "pull", lambda entry, **_: pulled.append(entry.name))
        run("pull")
        assert pulled == ["qwen2.5-coder-1.5b-instruct-q4_k_m", "all-MiniLM-L6-v2"]

    def test_a_licence_with_conditions_is_not_accepted_for_the_user(self, home):
        with pytest.raises(LicenceNotAccepted, match=r"Gemma Terms of Use.*https://ai\.google\.dev/gemma/terms"):
            run("pull", "gemma")

    def test_ctrl_c_ends_with_130_and_says_that_it_goes_on(self, home, own, monkeypatch):
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(fetch, "pull", interrupted)
        result = run("pull", "own")
        assert result.exit_code == 130
        assert "the same command goes on from there" in result.stderr


class TestVerify:
    def test_bytes_that_hold_are_ok(self, home, own):
        assert run("verify").stdout == f"own: ok, sha256 {SHA}\n"

    def test_bytes_that_changed_are_a_fault_and_exit_1(self, home, own):
        own.write_bytes(GGUF + b"x")
        result = run("verify", "own", "--json")
        (verdict,) = json.loads(result.stdout)
        assert result.exit_code == 1
        assert verdict["fault"].startswith("the file has changed")
        assert "FAULT: the file has changed" in run("verify").stdout

    def test_a_model_that_is_not_here_is_a_fault_only_when_named(self, home):
        assert run("verify").exit_code == 0
        result = run("verify", "smollm2")
        assert result.exit_code == 1
        assert "Run: localville models pull smollm2-135m-instruct-q4_1" in result.stdout


class TestAdd:
    def test_a_path_says_how_to_use_it(self, home, tmp_path):
        (tmp_path / "my model.gguf").write_bytes(GGUF)
        shown = run("add", str(tmp_path / "my model.gguf")).stdout
        assert shown == "Added my-model. Now use it: localville run --model my-model\n"

    def test_a_url_without_sha256_says_what_that_means(self, home):
        result = run("add", "https://example.com/some.gguf")
        assert "Now fetch it: localville models pull some" in result.stdout
        assert "the first fetch records one" in result.stderr
        with pytest.raises(ModelMissing, match="Run: localville models pull some"):
            from localville.llm.catalog import find_model

            find_model("some")

    def test_json_is_the_row_of_the_list(self, home):
        row = json.loads(run("add", "https://example.com/a.gguf", "--name", "b", "--prepare", "q4_0", "--json").stdout)
        assert (row["name"], row["prepare"], row["state"]) == ("b", "q4_0", "not fetched")


class TestProgress:
    def test_without_a_terminal_it_is_a_line_for_each_piece_of_work(self, capsys):
        with Transfer() as report:
            for done in range(0, 20_000_000, 1_000_000):
                report("fetch m", done, 20_000_000)
            report("check config.json", 10, 10)
            report("prepare m", 1_000_000, None)
        assert capsys.readouterr().err == "fetch m: 0 of 20 MB\nprepare m: 1 MB\n"

    def test_on_a_terminal_it_is_one_bar_that_leaves_nothing_behind(self, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with Transfer() as report:
            report("fetch m", 0, 20_000_000)
            report("fetch m", 10_000_000, 20_000_000)
            report("unpack m", 1, None)
        assert "fetch m:" not in capsys.readouterr().err


def test_the_commands_are_imported_without_the_libraries_they_use():
    code = (
        "import sys, typer; before = set(sys.modules); import localville.cli.models, localville.cli.doctor;"
        "print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "llama_cpp", "torch", "numpy", "localville.llm.catalog"} & set(loaded)
