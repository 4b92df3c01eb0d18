"""What lies in the cache: file names, receipts, hashes, and whether a file is still what was fetched.

CACHE/models/NAME.gguf           as published
CACHE/models/NAME.q8_0.gguf      prepared from it (the original stays, so another preparation needs no download)
CACHE/models/NAME.json           the receipt: size, time and sha256 of each, and what prepared it
CACHE/models/NAME/               an embedder's folder
CACHE/models/NAME.gguf.part      on its way (part.py)
CACHE/staging/NAME/              wheels on their way
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from localville.assets import cache_dir
from localville.errors import ModelCorrupt, ModelMissing
from localville.llm.catalog import Entry
from localville.llm.part import CHUNK_BYTES, Report, disk_faults, part_path, silent

# ---- Names ---------------------------------------------------------------------------------------------------------


def models_dir() -> Path:
    """The cache folder of weights and their receipts."""
    return cache_dir() / "models"


def staging_dir(entry: Entry) -> Path:
    """Where the wheels of a model lie on their way."""
    return cache_dir() / "staging" / entry.name


def source_path(entry: Entry) -> Path:
    """The original: in the cache, or where the user's own file lies."""
    if entry.path is not None:
        return Path(entry.path)
    return models_dir() / (entry.name if entry.is_embedder else f"{entry.name}.gguf")


def ready_path(entry: Entry) -> Path:
    """The file (or folder) that is loaded: the prepared one where the catalog asks for one."""
    return source_path(entry) if entry.prepare == "none" else models_dir() / f"{entry.name}.{entry.prepare}.gguf"


def pull_hint(entry: Entry) -> str:
    """The command that fetches a model."""
    return f"Run: localville models pull {entry.name}{' --accept-licence' if entry.conditions else ''}"


# ---- Receipts ------------------------------------------------------------------------------------------------------


class Stamp(BaseModel):
    """Identifies one file. While size and time are these, its sha256 is taken from here instead of read anew."""

    file: str
    bytes: int
    mtime_ns: int
    sha256: str
    made_from: str = ""
    """sha256 of the original, for a prepared file."""
    made_with: str = ""
    """The library and its version, for a prepared file."""

    @classmethod
    def of(cls, path: Path, sha256: str, *, made_from: str = "", made_with: str = "") -> Stamp:
        size, time = path.stat().st_size, path.stat().st_mtime_ns
        return cls(file=path.name, bytes=size, mtime_ns=time, sha256=sha256, made_from=made_from, made_with=made_with)

    def holds(self, path: Path) -> bool:
        stat = path.stat()
        return (stat.st_size, stat.st_mtime_ns) == (self.bytes, self.mtime_ns)


class Receipt(BaseModel):
    """What is known about one model's files. Without it a file is hashed, or prepared, once more."""

    name: str
    licence: str = ""
    source: Stamp | None = None
    prepared: dict[str, Stamp] = Field(default_factory=dict)


def _receipt_path(entry: Entry) -> Path:
    return models_dir() / f"{entry.name}.json"


def read_receipt(entry: Entry) -> Receipt:
    """Returns the model's receipt, an empty one when there is none or it cannot be read."""
    try:
        return Receipt.model_validate_json(_receipt_path(entry).read_bytes())
    except (OSError, ValidationError):
        return Receipt(name=entry.name, licence=entry.licence)


def write_receipt(entry: Entry, receipt: Receipt) -> None:
    """Writes a model's receipt, whole or not at all."""
    path = _receipt_path(entry)
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = part_path(path)
        part.write_text(json.dumps(receipt.model_dump(), indent=2) + "\n", encoding="utf-8")
        part.replace(path)


def _expected_stamp(entry: Entry) -> Stamp | None:
    """What the receipt says about the file that is loaded, if it comes from the catalog's original."""
    receipt = read_receipt(entry)
    if entry.prepare == "none":
        return receipt.source if receipt.source and receipt.source.sha256 == entry.sha256 else None
    stamp = receipt.prepared.get(entry.prepare)
    return stamp if stamp and stamp.made_from == entry.sha256 else None


# ---- Is it still right? --------------------------------------------------------------------------------------------


class State(StrEnum):
    """Says what is on this machine, without reading the bytes."""

    READY = "ready"
    UNPREPARED = "fetched, not prepared"
    MISSING = "not fetched"


def state_of(entry: Entry) -> State:
    """Whether a model lies here, ready to be loaded, by names alone; nothing is hashed."""
    if ready_path(entry).exists():
        return State.READY
    return State.UNPREPARED if source_path(entry).exists() else State.MISSING


def hash_file(path: Path, report: Report = silent) -> str:
    """The sha256 of a file, read in pieces."""
    total, done, digest = path.stat().st_size, 0, hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            report(f"check {path.name}", done, total)
    return digest.hexdigest()


def require_gguf(path: Path) -> None:
    """Raises ModelCorrupt unless the file begins as a GGUF does."""
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelCorrupt("this is no GGUF file", where=str(path), next="Take a model in GGUF format")


def ready_sha256(entry: Entry, report: Report = silent, *, reread: bool = False) -> str:
    """The sha256 of the file that is loaded; read from the disk unless size and time are as the receipt says.

    Raises ModelMissing, or ModelCorrupt when the file is not what was fetched or prepared.
    """
    path, hint = ready_path(entry), pull_hint(entry)
    if not path.is_file():
        if entry.path is not None and not source_path(entry).is_file():
            hint = f"Put it back, or say where it is: localville models add PATH --name {entry.name}"
            raise ModelMissing(f"the file of your model '{entry.name}' is gone", where=entry.path, next=hint)
        raise ModelMissing(f"'{entry.name}' is {state_of(entry)}", next=hint)
    stamp = _expected_stamp(entry)
    if stamp and not reread and stamp.holds(path):
        return stamp.sha256
    expected = stamp.sha256 if stamp else entry.sha256
    if entry.prepare != "none" and not stamp:
        # Without a receipt a prepared file can be vouched for only by the hash in the catalog.
        expected = entry.prepared_sha256.get(entry.prepare)
        if expected is None:
            raise ModelMissing(f"'{entry.name}' is prepared, but its receipt is lost", where=str(path), next=hint)
    found = hash_file(path, report)
    if found != expected:
        what = f"the file has changed (sha256 {found[:12]}…, not {str(expected)[:12]}…)"
        raise ModelCorrupt(what, where=str(path), next=hint)
    return found


@dataclass(frozen=True)
class Verdict:
    """The outcome of verifying one model: ``fault`` is empty when every byte is as expected."""

    name: str
    path: str
    sha256: str
    fault: str = ""
    next: str = ""
    remark: str = ""


def verify(entry: Entry, report: Report = silent) -> Verdict:
    """Reads the bytes of a model again and compares them with catalog and receipt."""
    path = ready_path(entry)
    try:
        if entry.is_embedder:
            return Verdict(entry.name, str(path), _verify_folder(entry, path, report))
        sha256 = ready_sha256(entry, report, reread=True)
    except (ModelCorrupt, ModelMissing) as fault:
        return Verdict(entry.name, str(path), "", fault.what, fault.next)
    other = entry.prepared_sha256.get(entry.prepare) not in (None, sha256)
    remark = "prepared by another library version or CPU than the catalog's: same model, other bytes" if other else ""
    return Verdict(entry.name, str(path), sha256, remark=remark)


def _verify_folder(entry: Entry, folder: Path, report: Report) -> str:
    if not folder.is_dir():
        raise ModelMissing(f"'{entry.name}' is not fetched", next=pull_hint(entry))
    for file in entry.files:
        path = folder / file.path
        if not path.is_file():
            raise ModelMissing(f"{file.path} is missing", where=str(folder), next=pull_hint(entry))
        if hash_file(path, report) != file.sha256:
            raise ModelCorrupt(f"{file.path} has changed", where=str(folder), next=pull_hint(entry))
    return str(entry.digest)
