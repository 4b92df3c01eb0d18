"""The shape of the package, kept true: who may import whom, one source of chance, one clock, a README that is the map.

The laws are those of the project's design: mind is pure, one seam for each outside thing, one file one idea.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from localville.assets import PACKAGE

ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = [path for path in FILES if path.name != "__init__.py"]
LONGEST_FILE = 400

GROUND = {"errors", "clock", "chance", "config", "assets"}
MAY_IMPORT = {
    **dict.fromkeys(GROUND, GROUND),
    "world": GROUND,
    "memory": GROUND,
    "llm": GROUND,
    "mind": GROUND | {"world", "memory", "llm"},
    "record": GROUND | {"memory", "llm"},
    "sim": GROUND | {"world", "memory", "llm", "mind", "record"},
    "study": GROUND | {"world", "memory", "llm", "mind", "record", "sim"},
    "viewer": GROUND | {"world", "memory", "llm", "record"},
}
"""Package → packages it may import besides itself; ``cli`` is outermost and may import all."""

SHIPPED_PARTS_OF_LLM = {"localville.llm.engine"}
"""What the record may know of the model: the seam's values, never an engine."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def package_of(path: Path) -> str:
    """``llm`` for localville/llm/engine.py, ``clock`` for localville/clock.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Every module a file imports, anywhere in it, in full: ``localville.llm.engine``."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative import in line {node.lineno}"
            module = node.module or ""
            for alias in node.names:
                inner = PACKAGE.parent.joinpath(*module.split("."), f"{alias.name}.py")
                yield f"{module}.{alias.name}" if inner.is_file() else module


def dotted(node: ast.AST) -> str:
    """``np.random.default_rng`` for the expression of that name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def calls(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield node.lineno, dotted(node.func)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way_only(path):
    """errors clock chance config assets ← world, memory, llm ← mind ← sim → record ← study, viewer ← cli."""
    package = package_of(path)
    if package in {"cli", "__init__", "__main__"}:
        return
    assert package in MAY_IMPORT, f"say in this test what '{package}' may import"
    mine = [module.split(".") for module in imports(path) if module.startswith("localville.")]
    assert {parts[1] for parts in mine} - {package} <= MAY_IMPORT[package]


def test_the_record_knows_the_values_of_the_seam_but_no_engine():
    known = {module for path in MODULES if package_of(path) == "record" for module in imports(path)}
    assert {module for module in known if module.startswith("localville.llm")} <= SHIPPED_PARTS_OF_LLM


def test_a_run_is_lived_without_being_studied():
    """Measures read a run through its record, and can be changed without changing what happens."""
    users = {package_of(path) for path in MODULES if any(m.startswith("localville.study") for m in imports(path))}
    assert users <= {"study", "cli"}
    measures = [
        PACKAGE / "study" / f"{name}.py" for name in ("alarms", "lived", "words", "conduct", "company", "fitting")
    ]
    known = {module.split(".")[1] for path in measures for module in imports(path) if module.startswith("localville.")}
    assert known <= GROUND | {"record", "world", "study"}


def test_the_mind_touches_nothing_outside():
    """Cognition is pure: no model, no database, no network, no process; files only to read its own prompts."""
    outside = {"sqlite3", "socket", "subprocess", "os", "time", "datetime", "random", "threading", "asyncio"}
    outside |= {"llama_cpp", "faiss", "torch", "sentence_transformers", "numpy", "localville.chance"}
    for path in MODULES:
        if package_of(path) == "mind":
            assert not {module for module in imports(path) if module in outside or module.split(".")[0] in outside}
            if path.name != "prompting.py":
                assert "pathlib" not in set(imports(path)), name_of(path)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_chance_is_the_only_source_of_randomness(path):
    forbidden = {"random", "secrets", "uuid", "numpy.random"}
    assert not forbidden & set(imports(path))
    if path.name != "chance.py":
        made = [(line, name) for line, name in calls(path) if "random." in name or name in ("os.urandom", "hash", "id")]
        assert not made, f"{name_of(path)}: take rng_for(seed, name, …) instead"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_reads_the_calendar_or_the_wall_clock(path):
    """Game time comes from clock.py; ``perf_counter`` and ``monotonic`` may measure spans, ``sleep`` may wait."""
    if path.name != "clock.py":
        assert "datetime" not in set(imports(path))
    readers = ("now", "utcnow", "today", "time", "time_ns", "localtime", "gmtime", "strftime", "ctime")
    forbidden = {f"{owner}.{reader}" for owner in ("time", "datetime", "date") for reader in readers}
    assert not [call for call in calls(path) if call[1] in forbidden]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            assert {alias.name for alias in node.names} <= {"perf_counter", "monotonic", "sleep"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_is_one_idea_and_says_which(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    assert ast.get_docstring(tree_of(path)), "a module's docstring says what it is about"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_public_function_and_class_says_what_it_is(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [node for node in tree_of(path).body if isinstance(node, kinds) and not node.name.startswith("_")]
    assert [node.name for node in public if not ast.get_docstring(node)] == []


def test_no_file_knows_the_machine_it_was_written_on():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert "/home/" not in text and "/work/" not in text, name_of(path)


def test_the_tree_in_the_readme_is_the_true_one():
    """The first ```text block under "## The tree": a file a line, its path first, then half a line about it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, heading, rest = readme.partition("\n## The tree")
    assert heading, "README.md has no section '## The tree'"
    block = rest.split("```text\n", 1)[1].split("```", 1)[0]
    lines = [line.split(None, 1) for line in block.splitlines() if line.split() and line.split()[0].endswith(".py")]
    listed = [words[0] for words in lines]
    assert [path for path in listed if listed.count(path) > 1] == []
    assert {path for path in listed if path.startswith("localville/")} == {name_of(path) for path in MODULES}
    assert [words[0] for words in lines if len(words) == 1] == [], "each file has half a line about it"
