"""Prefixes on disk: states of the long constant texts that begin prompts, kept from one run to the next.

The worked examples before a plan are the same in every run; reading them costs a 1.5B model a minute or more on two slow
cores (docs/log.md), restoring them milliseconds. A file holds exactly the bytes that the self-test found to go on as the
computed ones, so it changes the work, never an answer. All of it is a cache: delete the folder at any time.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from localville.llm.slots import Prefix, Snapshot

LASTING = frozenset({"town", "task"})
"""Names of parts that hold no person; at the head of a prompt they are the same in every run."""
SHORTEST = 64
"""Tokens. Reading fewer takes no longer than a second or two, and channel framings would make many files."""
BUDGET_BYTES = 512 << 20
"""All files of all models; about 17 thousand tokens of the 1.5B. The least recently used go first."""


class PrefixFiles:
    """Keeps snapshots of one model on this machine; ``mark`` names all on which their bits depend."""

    def __init__(self, root: Path, mark: str, budget_bytes: int = BUDGET_BYTES) -> None:
        self._root, self._budget = root, budget_bytes
        self.folder = root / hashlib.blake2b(mark.encode(), digest_size=8).hexdigest()
        self._names = {path.stem for path in self.folder.glob("*.npz")}

    @staticmethod
    def lasts(prefix: Prefix, cut: int) -> bool:
        """Whether the state at a cut is worth a file."""
        return cut == 0 and prefix.segments[0].name in LASTING and prefix.ends[0] >= SHORTEST

    def load(self, key: bytes) -> Snapshot | None:
        """Reads a snapshot; None if there is none, or its file is damaged or cannot be read."""
        if key.hex() not in self._names:
            return None
        self._names.discard(key.hex())  # tried once: afterwards it is in RAM, or no good
        path = self.folder / f"{key.hex()}.npz"
        try:
            # The archive carries a CRC32 of every member. A damaged one leaves a file open that numpy opened itself.
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                snapshot = Snapshot(file["state"], int(file["fill"]), file["logits"])
            os.utime(path)
        except (OSError, ValueError, KeyError, BadZipFile):
            return None
        return snapshot

    def save(self, key: bytes, snapshot: Snapshot) -> None:
        """Writes a snapshot; without room or permission nothing is kept, and only time is lost."""
        new = self.folder / f"{key.hex()}.{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._make_room(snapshot.size)
            with new.open("wb") as file:
                np.savez(file, state=snapshot.state, fill=np.int64(snapshot.fill), logits=snapshot.logits)
            new.replace(self.folder / f"{key.hex()}.npz")
        except OSError:
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def _make_room(self, size: int) -> None:
        files = sorted(self._root.glob("*/*.npz"), key=lambda path: path.stat().st_mtime_ns)
        excess = sum(path.stat().st_size for path in files) + size - self._budget
        for path in files:
            if excess <= 0:
                return
            excess -= path.stat().st_size
            path.unlink(missing_ok=True)
