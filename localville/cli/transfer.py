"""Shows how a file is coming along, on stderr: a bar on a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_SECONDS = 10.0
"""At most one plain line in so long for the same piece of work: logs of CI stay readable."""

SMALL_BYTES = 5_000_000
"""Smaller files are done before a line about them is read; they get none."""


class Transfer:
    """Is called as a `Report` (what, bytes done, bytes in all or None) while it is open."""

    def __init__(self) -> None:
        self._what = ""
        self._printed = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if self._bar is not None:
            if self._task is None or what != self._what:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._task = self._bar.add_task(what, total=total)
            self._bar.update(self._task, completed=done, total=total)
        elif total is not None and total < SMALL_BYTES:
            return
        elif what != self._what or time.monotonic() - self._printed > LINE_SECONDS:
            of = f" of {total / 1e6:.0f}" if total else ""
            print(f"{what}: {done / 1e6:.0f}{of} MB", file=sys.stderr, flush=True)
            self._printed = time.monotonic()
        self._what = what
