"""Behaviour alarms on the command line: measured when a run ends, listed below it and by `localville show --alarms`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from localville.cli.plain import printable

if TYPE_CHECKING:
    from localville.sim.run import Run

SHOWN = 8
"""Alarms listed at the end of a run; more would push its days off the screen."""


def measure(opened: Run) -> None:
    """Measures a run that is still open for writing, up to its last step, and writes the alarms into its record."""
    from localville.record.reader import RunReader
    from localville.study.alarms import find_alarms

    if opened.store.last_step < 0:
        return  # interrupted before the first step: nothing was lived
    with RunReader.open(opened.store.folder) as reader:
        alarms = find_alarms(reader, opened.state.town)
    opened.store.write_alarms(alarms)


def print_alarms(folder: Path, agent: str = "", *, limit: int | None = None, as_json: bool = False) -> None:
    """Prints the alarms of a run, or those about one agent (by full name); as JSON with how far they were measured."""
    from localville.clock import SimTime
    from localville.record.reader import RunReader

    with RunReader.open(folder) as reader:
        measured, (last, _, _) = reader.alarms_step(), reader.last_step()
        alarms = [alarm for alarm in reader.alarms() if agent in ("", alarm.agent, alarm.partner)]
    if as_json:
        rows = [
            {**alarm._asdict(), "since": SimTime(alarm.since).iso, "until": SimTime(alarm.until).iso}
            for alarm in alarms
        ]
        report = {"run": str(folder), "steps": last + 1, "measured_steps": 0 if measured is None else measured + 1}
        typer.echo(json.dumps({**report, "alarms": rows}, indent=2, ensure_ascii=False))
        return
    typer.echo()
    if measured is None:
        typer.echo(f"Alarms are measured when a run ends: localville resume {folder}")
        return
    if measured < last:
        typer.echo(f"Measured up to step {measured} of {last}; measured anew by: localville resume {folder}")
    if not alarms:
        typer.echo("No alarms.")
        return
    kinds = ", ".join(f"{kind.value} {times}" for kind, times in Counter(alarm.kind for alarm in alarms).most_common())
    typer.secho(f"{len(alarms)} {'alarm' if len(alarms) == 1 else 'alarms'}: {kinds}", bold=True)
    day = ""
    for alarm in alarms[:limit]:
        since, until = SimTime(alarm.since), SimTime(alarm.until)
        if since.date_words != day:
            day = since.date_words
            typer.echo(day)
        typer.echo(printable(f"  {since.hhmm}-{until.hhmm}  {alarm.kind.value:15}  {alarm.text}"))
    if limit is not None and len(alarms) > limit:
        typer.echo(f"  … and {len(alarms) - limit} more: localville show {folder} --alarms")
