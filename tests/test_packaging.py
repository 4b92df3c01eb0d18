"""The wheel carries everything a run needs, and a run from it works in any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def call(*words: str, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by hatchling in this very environment, so without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    call("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    return next(folder.glob("localville-*.whl"))


def shipped(folder: str, *patterns: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for pattern in patterns for path in (ROOT / folder).rglob(pattern)}


def test_the_wheel_carries_code_prompts_schema_and_assets(wheel: Path) -> None:
    inside = set(ZipFile(wheel).namelist())
    code = shipped("localville", "*.py", "*.jinja", "*.sql", "py.typed")
    assert code and code <= inside
    assets = shipped("maps", "*.tmj", "*.tsj", "*.png") | shipped("personas", "*.toml") | shipped("grammars", "*.gbnf")
    assert {f"localville/assets/{name}" for name in assets | {"models/catalog.toml"}} <= inside


def test_the_wheel_carries_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert [name for name in names if name.split("/")[0] not in ("localville",) and ".dist-info/" not in name] == []
    assert [name for name in names if "__pycache__" in name or name.endswith((".gguf", ".db", ".part"))] == []


def test_a_run_from_the_wheel_works_in_any_folder(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "some where"
    elsewhere.mkdir()
    ZipFile(wheel).extractall(site)
    program = "import localville.cli.main as cli; print(cli.__file__); cli.main()"
    said = call(
        *("-c", program, "run", "cafe", "--model", "scripted", "--until", "06:30", "--agents", "Isabella"),
        cwd=elsewhere,
        PYTHONPATH=str(site),
    )
    assert said.startswith(str(site)), "it must be the wheel's code, not the checkout's"
    assert "Isabella Rodriguez" in said
    assert (elsewhere / "runs" / "cafe-1" / "run.db").is_file()


def test_the_pinned_versions_satisfy_what_the_package_asks_for() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {canonicalize_name(name): version for name, version in pairs}
    assert "+" not in "".join(pins.values()), "a pin with a local version can be had from one index only"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in (*project["dependencies"], *project["optional-dependencies"]["dev"], "torch"):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), line
