"""`localville doctor`: looks at Python, packages, CPU, memory, disk and weights, and says what to do about each fault.

ok     as it should be
note   a run works, but slower or less safely than it could
fault  a run cannot work; the command exits with 1
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from localville.llm.part import Report

PACKAGES = {
    "llama-cpp-python": "0.3.30",
    "llguidance": "1.3",
    "outlines": "1.2",
    "sentence-transformers": "5",
    "faiss-cpu": "1.11",
    "numpy": "2",
    "pydantic": "2.10",
    "jinja2": "3.1",
    "typer": "0.15",
    "rich": "13",
}
"""What a run needs, with the oldest version: the dependencies of pyproject.toml (a test compares them)."""

SUPPORTED_PYTHON = ((3, 11), (3, 14))
"""From, up to but not including; requires-python of pyproject.toml."""

SPEED_FLAGS = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "VNNI",
    "avx_vnni": "AVX-VNNI",
    "asimddp": "DOTPROD",
}
"""CPU features that quantized matrix products are written for, as Linux calls them and as people do."""

FREE_DISK_GB = 5.0
"""The default model needs 2.3 GB while it is put together; a run some tens of MB a game day."""

SPARE_MEMORY_GB = 1.5
"""Beside the weights: KV cache and compute buffers of a run, the embedder and Python. Estimated."""


class Status(StrEnum):
    """Says how bad a finding is."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found, and what to do unless it is ok."""

    what: str
    status: Status
    found: str
    next: str = ""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Check whether this machine can run a town, and say what to do where it cannot."""
    from localville.cli.transfer import Transfer

    with Transfer() as report:
        findings = list(examine(report))
    faults = sum(finding.status is Status.FAULT for finding in findings)
    if as_json:
        typer.echo(json.dumps({"ok": not faults, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        _print(findings, faults)
    if faults:
        raise typer.Exit(1)


def _print(findings: list[Finding], faults: int) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    styles = {Status.OK: "green", Status.NOTE: "yellow", Status.FAULT: "bold red"}
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        console.print(
            Text(f"{finding.status:5}", style=styles[finding.status]), f"{finding.what:{width}}  {finding.found}"
        )
        if finding.next:
            console.print(Text(f"      {'':{width}}  {finding.next}", style="dim"))
    console.print(
        f"\n{faults} fault{'s' * (faults != 1)} must be mended first." if faults else "\nA town can run here."
    )


def examine(report: Report) -> Iterator[Finding]:
    """Looks at everything, cheap things first. Reading the weights takes about a second a GB."""
    yield _python()
    yield from _packages()
    yield _cpu()
    yield _library()
    yield _disk()
    yield from _models(report)


# ---- Software ------------------------------------------------------------------------------------------------------


def _python() -> Finding:
    found = f"{platform.python_version()} ({sys.executable})"
    low, high = SUPPORTED_PYTHON
    if low <= sys.version_info[:2] < high:
        return Finding("python", Status.OK, found)
    hint = f"Make an environment with Python {low[0]}.{low[1]} up to {high[0]}.{high[1] - 1}"
    return Finding("python", Status.FAULT, found, hint)


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for name, oldest in PACKAGES.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            yield Finding(name, Status.FAULT, "missing", f"Run: pip install '{name}>={oldest}'")
            continue
        if _numbers(found) < _numbers(oldest):
            yield Finding(name, Status.FAULT, f"{found} is too old", f"Run: pip install -U '{name}>={oldest}'")
        else:
            yield Finding(name, Status.OK, found)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, for comparing: `2.13.0+cpu` → (2, 13, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _library() -> Finding:
    """Loads llama.cpp in a process of its own: a build for another CPU dies by a signal, not by an exception."""
    code = "import llama_cpp; print(llama_cpp.llama_print_system_info().decode())"
    try:
        run = subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding("llama.cpp", Status.FAULT, "does not load within a minute", "Run the doctor again")
    rebuild = "Run: pip install --force-reinstall --no-cache-dir --no-binary llama-cpp-python llama-cpp-python"
    if run.returncode != 0:
        lines = run.stderr.strip().splitlines() or [f"ends with code {run.returncode}"]
        return Finding("llama.cpp", Status.FAULT, f"does not load: {lines[-1][:200]}", rebuild)
    features = re.findall(r"(\w+) = 1", run.stdout)
    found = f"built with {' '.join(features)}"
    if "avx2" in cpu_flags() and "AVX2" not in features:
        return Finding("llama.cpp", Status.NOTE, f"{found}, without AVX2: slow on this CPU", rebuild)
    return Finding("llama.cpp", Status.OK, found)


# ---- Machine -------------------------------------------------------------------------------------------------------


def cpu_flags() -> frozenset[str]:
    """The CPU's features as the system names them; empty where they cannot be learnt."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    match = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return frozenset(match[1].split()) if match else frozenset()


def _cores() -> int:
    """Cores this process may use: containers and `taskset` allow fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> Finding:
    flags = cpu_flags()
    known = [label for flag, label in SPEED_FLAGS.items() if flag in flags]
    found = f"{_cores()} cores, {platform.machine()}, {' '.join(known) if known else 'features unknown'}"
    if flags and platform.machine() in ("x86_64", "AMD64") and "avx2" not in flags:
        return Finding("cpu", Status.NOTE, found, "Without AVX2 a model answers several times slower; take a small one")
    return Finding("cpu", Status.OK, found)


def memory_gb() -> tuple[float | None, float | None]:
    """Memory in all and still available, in GB (1e9 bytes); None where it cannot be learnt."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return None, None
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        return total, None
    match = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return total, int(match[1]) * 1024 / 1e9 if match else None


def _memory(weights_bytes: int, name: str) -> Finding:
    total, available = memory_gb()
    if total is None:
        return Finding("memory", Status.OK, "unknown")
    free = total if available is None else available
    found = f"{free:.1f} GB free of {total:.1f}"
    need = weights_bytes / 1e9 + SPARE_MEMORY_GB
    if free < need:
        hint = "Close other programs, or run a smaller model: localville models list"
        return Finding("memory", Status.NOTE, f"{found}; {name} wants about {need:.1f}", hint)
    return Finding("memory", Status.OK, found)


def _disk() -> Finding:
    from localville.assets import cache_dir

    folder = cache_dir()
    at = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(at).free / 1e9
    found = f"{free:.1f} GB free at {folder}"
    if not os.access(at, os.W_OK):
        return Finding("disk", Status.NOTE, f"{folder} cannot be written", "Set LOCALVILLE_HOME to a folder of yours")
    if free < FREE_DISK_GB:
        hint = "To fetch models, free some space or set LOCALVILLE_HOME to a folder on another disk"
        return Finding("disk", Status.NOTE, found, hint)
    return Finding("disk", Status.OK, found)


# ---- Weights -------------------------------------------------------------------------------------------------------


def _models(report: Report) -> Iterator[Finding]:
    from localville.errors import LocalvilleError
    from localville.llm import model_files
    from localville.llm.catalog import load_catalog
    from localville.llm.model_files import State

    try:
        catalog = load_catalog()
    except LocalvilleError as fault:
        yield Finding("catalog", Status.FAULT, f"{fault.where}: {fault.what}", fault.next)
        return
    default = catalog.find(catalog.default.model)
    sizes: dict[str, int] = {}
    for entry in catalog.entries:
        if entry.is_embedder or model_files.state_of(entry) is State.MISSING:
            continue
        verdict = model_files.verify(entry, report)
        if verdict.fault:
            # Other models are no reason not to run this one, and this one none not to run others.
            status = Status.FAULT if entry is default else Status.NOTE
            yield Finding(entry.name, status, verdict.fault, verdict.next)
        else:
            sizes[entry.name] = Path(verdict.path).stat().st_size
            yield Finding(entry.name, Status.OK, f"sha256 {verdict.sha256[:12]}… holds", verdict.remark)
    if not sizes:
        yield Finding("language model", Status.FAULT, "none is ready", model_files.pull_hint(default))
    elif default.name not in sizes and model_files.state_of(default) is State.MISSING:
        hint = f"{model_files.pull_hint(default)}, or name another with --model"
        yield Finding("language model", Status.NOTE, f"the default, {default.name}, is not fetched", hint)
    embedder = catalog.find(catalog.default.embedder)
    verdict = model_files.verify(embedder, report)
    if verdict.fault:
        yield Finding("embedder", Status.FAULT, verdict.fault, verdict.next)
    else:
        yield Finding("embedder", Status.OK, f"{embedder.name}, sha256 of its files hold")
    if sizes:
        name = default.name if default.name in sizes else min(sizes, key=lambda name: sizes[name])
        yield _memory(sizes[name], name)
