"""Shows a run while it is lived, on stderr: a screen on a terminal, a line an action anywhere else."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from localville.cli.plain import printable

if TYPE_CHECKING:
    from localville.sim.facts import StepFacts
    from localville.sim.run import Run

REDRAWS_PER_SECOND = 4
"""Redrawing costs a millisecond or two; the model gets the rest."""


class LiveScreen:
    """Watches a run. Is called after every answer (facts None) and after every step."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._began = perf_counter()
        self._first = run.state.now.seconds
        self._drawn = 0.0
        self._screen: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._screen = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._screen.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._screen is not None:
            self._screen.stop()

    def __call__(self, run: Run, facts: StepFacts | None) -> None:
        if self._screen is None:
            for name, action in facts.actions if facts is not None else ():
                line = f"{facts.at.hhmm}  {name:20}  {action.emoji} {action.text} @ {action.address}" if facts else ""
                print(printable(line), file=sys.stderr, flush=True)
            return
        if facts is None and perf_counter() - self._drawn < 1 / REDRAWS_PER_SECOND:
            return
        self._drawn = perf_counter()
        self._screen.update(self._picture(), refresh=True)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        state, totals = self._run.state, self._run.totals
        head = Text(f"{state.now.date_words}  {state.now.hhmm}   ", style="bold").append(self._pace(), style="dim")
        table = Table(box=None, padding=(0, 1), show_header=False)
        for agent in state.agents:
            emoji = agent.action.emoji if agent.action is not None else "😴"
            place = str(agent.action.address) if agent.action is not None else ""
            table.add_row(emoji, Text(agent.name, style="bold"), Text(agent.activity()), Text(place, style="dim"))
        seconds = max(perf_counter() - self._began, 1e-9)
        new = totals.prompt_tokens - totals.reused_tokens + totals.generated_tokens
        foot = (
            f"{totals.asks} asks, {new / seconds:.0f} tokens/s, "
            f"{totals.reused_tokens / max(totals.prompt_tokens, 1):.0%} of the prompts reused   "
            "Ctrl-C ends after this step, saved"
        )
        return Group(head, table, Text(foot, style="dim"))

    def _pace(self) -> str:
        lived = self._run.state.now.seconds - self._first
        seconds = perf_counter() - self._began
        if lived <= 0:
            return "beginning"
        left = (self._run.config.until - self._run.state.now.seconds) * seconds / lived
        return f"{lived / 60 / seconds:.1f} game minutes a second, about {duration(left)} left"


def duration(seconds: float) -> str:
    """A span of wall time as people say it: ``45 s``, ``12 min``, ``3 h 05 min``."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
