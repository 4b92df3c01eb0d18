"""A file on its way: hashed while it is written, under its final name only when size and sha256 are right."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from localville.errors import FetchError, ModelCorrupt

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Is told what is being done, how many bytes are done, and how many there are (None: unknown)."""

CHUNK_BYTES = 1 << 20


def silent(what: str, done: int, total: int | None) -> None:
    """Reports nothing."""


@contextmanager
def disk_faults(path: Path) -> Iterator[None]:
    """Turns a full disk, or a folder that may not be written, into one sentence (FetchError)."""
    try:
        yield
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(path) from None
        hint = "Set LOCALVILLE_HOME to a folder you can write to"
        raise FetchError(f"cannot write here ({fault.strerror or fault})", where=str(path), next=hint) from None


def disk_full(path: Path) -> FetchError:
    """The fault of a disk that has no room for a file."""
    hint = "Free some space, or set LOCALVILLE_HOME to a folder on another disk, and run the same command again"
    return FetchError("the disk is full", where=str(path), next=hint)


def part_path(final: Path) -> Path:
    """The name of a file on its way."""
    return final.with_name(final.name + ".part")


class Part:
    """Collects the bytes of ``final`` in ``final.part``. After a failure they stay, for the next attempt to go on."""

    def __init__(self, final: Path, *, resume: bool) -> None:
        self.final, self.path = final, part_path(final)
        self.size, self._digest = 0, hashlib.sha256()
        with disk_faults(self.path):
            final.parent.mkdir(parents=True, exist_ok=True)
            if resume and self.path.is_file():
                with self.path.open("rb") as file:
                    while chunk := file.read(CHUNK_BYTES):
                        self._digest.update(chunk)
                        self.size += len(chunk)
            self._file = self.path.open("ab" if self.size else "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        # On a full disk closing flushes, and fails, once more; the first fault is the one to tell.
        with suppress(OSError):
            self._file.close()

    def write(self, chunk: bytes) -> None:
        with disk_faults(self.path):
            self._file.write(chunk)
        self._digest.update(chunk)
        self.size += len(chunk)

    def restart(self) -> None:
        """Drops what has arrived."""
        self._file.seek(0)
        self._file.truncate()
        self.size, self._digest = 0, hashlib.sha256()

    def finish(self, expected_bytes: int | None, expected_sha256: str | None, hint: str) -> str:
        """Checks size and sha256 (None: whatever came) and moves the file to its final name; returns its sha256.

        Raises ModelCorrupt when they differ; nothing is kept then, because going on from wrong bytes cannot succeed.
        """
        sha256 = self._digest.hexdigest()
        if expected_bytes not in (None, self.size):
            what = f"it has {self.size} bytes, the catalog says {expected_bytes}"
        elif expected_sha256 not in (None, sha256):
            what = f"its sha256 is {sha256[:12]}…, the catalog says {str(expected_sha256)[:12]}…"
        else:
            with disk_faults(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                self.path.replace(self.final)
            return sha256
        self._file.close()
        self.path.unlink(missing_ok=True)
        raise ModelCorrupt(f"what arrived is not the model: {what}; it was removed", where=self.final.name, next=hint)
