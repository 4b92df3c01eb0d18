"""One writer a run: an advisory lock of the operating system on ``run.toml``.

The kernel gives the lock back when its process ends, however it ends, so no lock is ever stale: a process id alone
cannot tell a crashed run from a live one once the number has been given to somebody else. ``run.toml`` is written once
and never replaced. It must not be ``run.db``: closing any handle of that would drop SQLite's own locks on it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # Windows' locks keep others from reading too; no byte of the file lies here

    def _lock(file: BinaryIO) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class RunLock:
    """Holds the right to write a run until it is closed."""

    def __init__(self, path: Path) -> None:
        """Takes the lock. Raises BlockingIOError if somebody has it, and OSError where the file cannot be locked."""
        self._file = path.open("r+b")
        try:
            _lock(self._file)
        except PermissionError as fault:  # what Windows says of a lock that somebody has
            self._file.close()
            raise BlockingIOError(fault.errno, os.strerror(fault.errno or 0)) from None
        except OSError:
            self._file.close()
            raise

    def close(self) -> None:
        """Gives the lock back. Closing twice is fine."""
        self._file.close()
