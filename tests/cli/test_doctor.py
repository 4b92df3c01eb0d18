"""`localville doctor`: every fault is found, says what to do, and stops only what it must stop."""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement
from typer.testing import CliRunner

from localville.assets import PACKAGE
from localville.cli import doctor as module
from localville.cli.doctor import PACKAGES, SUPPORTED_PYTHON, Finding, Status, doctor
from localville.llm import catalog as catalog_module
from localville.llm import user_catalog
from localville.llm.part import silent

GGUF = b"GGUF" + bytes(100)
CATALOG = f"""
[default]
model = "tiny-model"
embedder = "tiny-embedder"
ways = {{}}
[[model]]
name = "tiny-model"
bytes = {len(GGUF)}
sha256 = "{hashlib.sha256(GGUF).hexdigest()}"
wheels = [{{ wheel = "tiny==1.0", member = "tiny/data.bin" }}]
[[model]]
name = "tiny-embedder"
wheels = [{{ wheel = "tiny-embedder==1.0", member = "tiny/model/" }}]
files = [{{ path = "config.json", bytes = 2, sha256 = "{hashlib.sha256(b"{}").hexdigest()}" }}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has everything a run needs."""
    (tmp_path / "shipped.toml").write_text(CATALOG, encoding="utf-8")
    monkeypatch.setattr(catalog_module, "catalog_path", lambda: tmp_path / "shipped.toml")
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    models = tmp_path / "home" / "models"
    (models / "tiny-embedder").mkdir(parents=True)
    (models / "tiny-embedder" / "config.json").write_bytes(b"{}")
    (models / "tiny-model.gguf").write_bytes(GGUF)
    return tmp_path / "home"


def models() -> dict[str, Finding]:
    return {finding.what: finding for finding in module._models(silent)}


class TestWeights:
    def test_all_that_a_run_needs_is_ok(self, home):
        assert {what: finding.status for what, finding in models().items()} == {
            "tiny-model": Status.OK,
            "embedder": Status.OK,
            "memory": Status.OK,
        }

    def test_no_model_and_no_embedder_are_faults_with_their_commands(self, home):
        (home / "models" / "tiny-model.gguf").unlink()
        (home / "models" / "tiny-embedder" / "config.json").unlink()
        found = models()
        assert found["language model"] == Finding(
            "language model", Status.FAULT, "none is ready", "Run: localville models pull tiny-model"
        )
        assert found["embedder"].status is Status.FAULT
        assert found["embedder"].next == "Run: localville models pull tiny-embedder"

    def test_a_default_model_with_wrong_bytes_is_a_fault(self, home):
        (home / "models" / "tiny-model.gguf").write_bytes(GGUF + b"x")
        assert models()["tiny-model"].status is Status.FAULT

    def test_another_model_with_wrong_bytes_is_a_note(self, home, tmp_path):
        own = tmp_path / "own.gguf"
        own.write_bytes(GGUF)
        user_catalog.add(str(own))
        own.write_bytes(b"GGUF?")
        assert models()["own"].status is Status.NOTE

    def test_only_a_model_of_ones_own_is_enough(self, home, tmp_path):
        (home / "models" / "tiny-model.gguf").unlink()
        (tmp_path / "own.gguf").write_bytes(GGUF)
        user_catalog.add(str(tmp_path / "own.gguf"))
        assert models()["language model"].status is Status.NOTE

    def test_a_catalog_that_cannot_be_read_is_a_fault_that_names_the_file(self, home):
        (home / "catalog.toml").write_text("[[model]]\nname = 3")
        assert models()["catalog"].status is Status.FAULT
        assert str(home / "catalog.toml") in models()["catalog"].found

    def test_too_little_memory_is_a_note(self, home, monkeypatch):
        monkeypatch.setattr(module, "memory_gb", lambda: (4.0, 1.0))
        assert models()["memory"].status is Status.NOTE


class TestMachine:
    def test_this_python_is_supported_and_others_are_not(self, monkeypatch):
        assert module._python().status is Status.OK
        monkeypatch.setattr(sys, "version_info", (3, 10, 0))
        assert module._python().next == "Make an environment with Python 3.11 up to 3.13"

    def test_the_packages_are_those_of_pyproject(self):
        pyproject = PACKAGE.parent / "pyproject.toml"
        if not pyproject.exists():
            pytest.skip("not a checkout")
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        wanted = {
            need.name: str(need.specifier).removeprefix(">=") for need in map(Requirement, project["dependencies"])
        }
        assert wanted == PACKAGES
        (low, high) = SUPPORTED_PYTHON
        assert project["requires-python"] == f">={low[0]}.{low[1]},<{high[0]}.{high[1]}"

    def test_a_missing_or_old_package_is_a_fault_with_its_command(self, monkeypatch):
        monkeypatch.setattr(module, "PACKAGES", {"no-such-package-here": "1", "pytest": "999"})
        missing, old = module._packages()
        assert (missing.status, missing.next) == (Status.FAULT, "Run: pip install 'no-such-package-here>=1'")
        assert (old.status, old.next) == (Status.FAULT, "Run: pip install -U 'pytest>=999'")

    @pytest.mark.parametrize(("version", "numbers"), [("2.13.0+cpu", (2, 13, 0)), ("3rc1", (3,)), ("x", ())])
    def test_versions_are_compared_by_their_numbers(self, version, numbers):
        assert module._numbers(version) == numbers

    def test_a_library_that_dies_on_loading_is_a_fault_and_not_the_end_of_the_doctor(self, monkeypatch, tmp_path):
        (tmp_path / "llama_cpp.py").write_text("import os; os.kill(os.getpid(), 4)")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        assert module._library().status is Status.FAULT
        assert "--no-binary llama-cpp-python" in module._library().next

    def test_a_library_built_without_what_the_cpu_has_is_a_note(self, monkeypatch, tmp_path):
        (tmp_path / "llama_cpp.py").write_text("llama_print_system_info = lambda: b'CPU : SSE3 = 1 | '")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(module, "cpu_flags", lambda: frozenset({"avx2"}))
        assert module._library().status is Status.NOTE
        monkeypatch.setattr(module, "cpu_flags", frozenset)
        assert module._library() == Finding("llama.cpp", Status.OK, "built with SSE3")

    def test_a_full_disk_is_a_note(self, home, monkeypatch):
        assert str(home) in module._disk().found
        monkeypatch.setattr(module, "FREE_DISK_GB", 1e9)
        assert module._disk().status is Status.NOTE


class TestCommand:
    @pytest.fixture
    def app(self, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
        app = typer.Typer()
        app.command()(doctor)
        return app

    def examine_as(self, monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
        def examine(report: object) -> Iterator[Finding]:
            yield from findings

        monkeypatch.setattr(module, "examine", examine)

    def test_it_exits_with_0_when_a_town_can_run(self, app, monkeypatch):
        note = Finding("disk", Status.NOTE, "1 GB free", "Free some space")
        self.examine_as(monkeypatch, Finding("python", Status.OK, "3.12"), note)
        result = CliRunner().invoke(app)
        assert result.exit_code == 0
        assert result.stdout.splitlines() == [
            "ok    python  3.12",
            "note  disk    1 GB free",
            "              Free some space",
            "",
            "A town can run here.",
        ]

    def test_it_exits_with_1_when_it_cannot(self, app, monkeypatch):
        self.examine_as(monkeypatch, Finding("embedder", Status.FAULT, "not fetched", "Run: x"))
        result = CliRunner().invoke(app, ["--json"])
        assert result.exit_code == 1
        assert json.loads(result.stdout) == {
            "ok": False,
            "findings": [{"what": "embedder", "status": "fault", "found": "not fetched", "next": "Run: x"}],
        }
        assert "1 fault must be mended first." in CliRunner().invoke(app).stdout

    def test_it_looks_at_everything(self, home):
        found = {finding.what for finding in module.examine(silent)}
        assert {"python", "numpy", "cpu", "llama.cpp", "disk", "tiny-model", "embedder", "memory"} <= found
