"""Another quantization made from a fetched model, where the catalog asks for one.

Some published formats have no fast kernel (Q4_1) or give the same bits only in groups of rows (K-quants). A Q8_0 made
from them is as exact as makes no difference and gives the same bits in any batch. On one library version and CPU the
file comes out the same to the bit, whatever the number of threads.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from localville.errors import ModelCorrupt, PrerequisiteError
from localville.llm.catalog import Entry, Preparation
from localville.llm.model_files import Stamp, hash_file, ready_path, require_gguf
from localville.llm.part import Report, disk_faults, disk_full, part_path
from localville.llm.quantize import NO_LIBRARY

GROWTH = {"none": 0.0, "q8_0": 1.9, "q4_0": 1.1}
"""Bytes of the prepared file over those of the original, at most; measured 1.70 and 0.95 for the 1.5B from Q4_K_M,
1.47 and 0.93 for the 135M from Q4_1. Used to check the free space beforehand."""

POLL_SECONDS = 0.3


def prepare(entry: Entry, source: Path, source_sha256: str, report: Report) -> Stamp:
    """Requantizes the original into the entry's prepared file and returns that file's stamp.

    Raises PrerequisiteError without llama-cpp-python, ModelCorrupt when it refuses the file, FetchError on a full disk.
    """
    final = ready_path(entry)
    part = part_path(final)
    what = f"prepare {entry.name} as {entry.prepare}"
    with disk_faults(part):
        final.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
    try:
        said = _quantize(source, part, entry.prepare, lambda: report(what, _size(part), None))
        if said is not None:
            if "iostream error" in said:  # What C++ says when a write fails.
                raise disk_full(part)
            hint = "Take another model, or a file that is not prepared: localville models add PATH"
            raise ModelCorrupt(f"llama.cpp cannot requantize it ({said})", where=str(source), next=hint)
        require_gguf(part)
        sha256 = hash_file(part, report)
        with disk_faults(part):
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            part.replace(final)
    finally:
        part.unlink(missing_ok=True)  # Half a preparation cannot be gone on with.
    return Stamp.of(final, sha256, made_from=source_sha256, made_with=library_version())


def library_version() -> str:
    """The library that prepares models, with its version."""
    try:
        return f"llama-cpp-python {version('llama-cpp-python')}"
    except PackageNotFoundError:
        return "llama-cpp-python of unknown version"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _quantize(source: Path, target: Path, kind: Preparation, tick: Callable[[], None]) -> str | None:
    """Runs the quantizer, calling `tick` while it works; returns its complaint, or None if all went well."""
    # -P: its own folder must not be searched for modules before the libraries.
    command = [sys.executable, "-P", str(Path(__file__).with_name("quantize.py")), str(source), str(target), kind]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = b""
    with process:
        try:
            while process.returncode is None:
                try:
                    _, said = process.communicate(timeout=POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    tick()
        finally:
            if process.poll() is None:
                process.kill()
    if process.returncode == 0:
        return None
    text = said.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    stated = re.findall(r"failed to quantize: (.+)", text)
    reason = (stated or lines or [f"exit code {process.returncode}"])[-1]
    if process.returncode == NO_LIBRARY:
        hint = "Run: pip install llama-cpp-python"
        raise PrerequisiteError(f"preparing this model needs llama-cpp-python ({reason})", next=hint)
    return reason
