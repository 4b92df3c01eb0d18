"""`localville show` and `memories`: each agent's days as a timeline, and what it remembers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localville.cli.plain import printable
from localville.cli.trees import print_trees

if TYPE_CHECKING:
    from localville.record.reader import RunReader

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def show(
    folder: RunFolder,
    agent: Annotated[str, typer.Argument(help="Only this agent, by first or full name.")] = "",
    alarms: Annotated[bool, typer.Option("--alarms", help="What people would not do, instead of the days.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print each agent's day as a timeline: time, place, action."""
    from localville.cli.alarms import print_alarms
    from localville.record.reader import RunReader

    if alarms:
        with RunReader.open(folder) as reader:
            name = one_agent(reader, agent) if agent else ""
        print_alarms(folder, name, as_json=as_json)
        return
    if not as_json:
        print_timelines(folder, agent)
        print_summary(folder, as_json)
        return
    with RunReader.open(folder) as reader:
        days = {name: [line._asdict() for line in reader.timeline(name)] for name in _named(reader, agent)}
    typer.echo(json.dumps(days, indent=2, ensure_ascii=False))


def memories(
    folder: RunFolder,
    agent: Annotated[str, typer.Argument(help="First or full name.")],
    tree: Annotated[bool, typer.Option("--tree", help="Reflections as trees over what they rest on.")] = False,
    query: Annotated[str, typer.Option(help="Retrieve for this, with the three scores and their total.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print what an agent remembers: the latest memories, or the best for a query with their scores."""
    from localville.record.reader import RunReader

    with RunReader.open(folder) as reader:
        name = one_agent(reader, agent)
        found = reader.memories(name)
        if tree:
            print_trees([memory for memory, _ in found], limit, as_json)
            return
        if not query:
            latest = found[-limit:]
            rows: list[dict[str, Any]] = [
                {
                    "id": m.id,
                    "kind": m.kind.value,
                    "created": m.created.iso,
                    "importance": m.importance,
                    "count": m.count,
                    "evidence": list(m.evidence),
                    "text": m.text,
                }
                for m, _ in latest
            ]
        else:
            rows = _retrieved(reader, name, found, query, limit)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if query:
        typer.echo("total  recency  importance  relevance  memory")
    for row in rows:
        if query:
            scores = f"{row['total']:5.2f}  {row['recency']:7.2f}  {row['importance']:10.2f}  {row['relevance']:9.2f}"
            typer.echo(printable(f"{scores}  {row['text']}"))
        else:
            again = f"  (seen {row['count']} times)" if row["count"] > 1 else ""
            line = f"{row['id']:5}  {row['created'][:16]}  {row['importance']:2}  {row['text']}{again}"
            typer.echo(printable(line))
    if not rows:
        typer.echo(f"{name} remembers nothing yet.")


def _retrieved(reader: RunReader, name: str, found: list[Any], query: str, limit: int) -> list[dict[str, Any]]:
    """Retrieves as the run would at its end, without touching anything."""
    from localville.config import Profile
    from localville.memory.embed import HashingEmbedder, SentenceEmbedder
    from localville.memory.index import MemoryIndex
    from localville.memory.retrieval import retrieve
    from localville.memory.stream import MemoryStream

    if reader.manifest["embedder"]["name"] == HashingEmbedder.name:
        vector = HashingEmbedder().embed([query])[0]
    else:
        from localville.llm.catalog import embedder_path

        vector = SentenceEmbedder(embedder_path()).embed([query])[0]
    stream, index = MemoryStream(name), MemoryIndex(len(vector))
    for memory, stored in found:
        stream.restore(memory)
        index.add(memory.id, stored)
    _, now, _ = reader.last_step()
    profile = Profile.model_validate(reader.manifest["config"]["profile"])
    return [
        {**scored._asdict(), "memory": scored.memory.id, "text": scored.memory.text}
        for scored in retrieve(stream, index, vector, now, limit, profile)
    ]


def print_timelines(folder: Path, agent: str = "") -> None:
    """Prints the timeline of one agent, or of all."""
    from localville.clock import SimTime
    from localville.record.reader import RunReader

    with RunReader.open(folder) as reader:
        for name in _named(reader, agent):
            day = ""
            for line in reader.timeline(name):
                start, end = SimTime(line.start), SimTime(line.end)
                if start.date_words != day:
                    day = start.date_words
                    typer.secho(printable(f"\n{name}, {day}"), bold=True)
                place = ": ".join(part for part in (line.sector, line.arena) if part)
                used = f", {line.object}: {line.object_state}" if line.object else ""
                typer.echo(printable(f"  {start.hhmm}-{end.hhmm}  {line.emoji} {line.text}  ({place}{used})"))


def print_summary(folder: Path, as_json: bool) -> None:
    """Prints what a run cost and the hash of all that happened in it."""
    from localville.record.reader import RunReader

    with RunReader.open(folder) as reader:
        totals, (step, _, end), at = reader.totals(), reader.last_step(), reader.lived_until()
        measured, alarms = reader.alarms_step() == step, len(reader.alarms())
    asks, retries, prompt, reused, _, generated = (sum(int(row[i]) for row in totals) for i in range(1, 7))
    summary = {
        "run": str(folder),
        "steps": step + 1,
        "until": at.iso,
        "asks": asks,
        "retries": retries,
        "prompt_tokens": prompt,
        "reused_tokens": reused,
        "generated_tokens": generated,
        "alarms": alarms if measured else None,
        "log_hash": end,
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    share = f"{reused / prompt:.0%}" if prompt else "none"
    typer.echo(
        f"\n{folder}: {step + 1} steps until {at.iso[:16]}, {asks} asks, {retries} retries, {generated} tokens written, "
        f"{share} of {prompt} prompt tokens reused\nlog hash {end}"
    )


def _named(reader: RunReader, agent: str) -> list[str]:
    """The agents a name stands for; all for none."""
    return [one_agent(reader, agent)] if agent else reader.agents()


def one_agent(reader: RunReader, agent: str) -> str:
    """The agent of a first or full name. Raises RunError with the nearest match."""
    from difflib import get_close_matches

    from localville.config import composed
    from localville.errors import RunError

    names = reader.agents()
    wanted = composed(agent).strip().casefold()
    hits = [name for name in names if wanted in (name.casefold(), name.split()[0].casefold())]
    if len(hits) != 1:
        close = get_close_matches(agent, [*names, *(name.split()[0] for name in names)], 1)
        hint = f"Did you mean '{close[0]}'?" if close else f"Here live: {', '.join(names)}"
        what = f"nobody here is called '{agent}'" if not hits else f"'{agent}' is the name of more than one"
        raise RunError(what, where=str(reader.folder), next=hint)
    return hits[0]
