"""`localville run`, `resume` and `list`: live a scenario, go on with a run, see what there is."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localville.cli.transfer import Transfer

if TYPE_CHECKING:
    from localville.llm.catalog import ModelFile
    from localville.llm.engine import Engine
    from localville.memory.embed import Embedder
    from localville.sim.run import Run

SCRIPTED = "scripted"
"""As --model: the engine without a model, with the hashing embedder. Valid and silly; for trying things out."""

Slots = Annotated[
    int, typer.Option(min=1, max=64, help="Questions answered at once. Changes the speed, never a result.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Processor threads; all cores if not given.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def run(
    scenario: Annotated[str, typer.Argument(help="A scenario's name, or the path of its .toml file.")] = "cafe",
    model: Annotated[str, typer.Option(help="A model's name, the path of a GGUF file, or 'scripted'.")] = "",
    agents: Annotated[str, typer.Option(help="Only these of the cast, by name, separated by commas.")] = "",
    start: Annotated[str, typer.Option(help="When to begin, e.g. 06:00.")] = "",
    until: Annotated[str, typer.Option(help="When to end, e.g. 13:00 or 'day 2 09:00'.")] = "",
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="How many days to live, instead of --until.")
    ] = None,
    step_seconds: Annotated[int, typer.Option(min=1, max=600, help="Game seconds a step; one tile of walking.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed, model and settings give the same run.")] = 0,
    out: Annotated[Path | None, typer.Option(help="The run's folder; runs/SCENARIO-N if not given.")] = None,
    slots: Slots = 8,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Live a scenario on a local model, and record all of it."""
    from localville.clock import DAY, parse_moment
    from localville.config import PROFILES, RunConfig, find_scenario, load_cast
    from localville.errors import ConfigError, RunExists
    from localville.mind.plan import check_day
    from localville.sim.run import Run
    from localville.sim.start import manifest
    from localville.world.places import Town
    from localville.world.residents import check_resident
    from localville.world.tiled import find_map

    story, story_file = find_scenario(scenario)
    first = parse_moment(start, story.start_time) if start else story.start_time
    if days is not None and until:
        raise ConfigError("--days and --until both say when to end", next="Give one of them")
    last = parse_moment(until or story.until, story.start_time)
    if days is not None:
        last = first.midnight + days * DAY
    if last <= first:
        raise ConfigError(f"the run would end ({last.iso}) before it begins ({first.iso})", next="Give a later --until")
    only = tuple(name.strip() for name in agents.split(",") if name.strip())
    cast = load_cast(story, story_file, only)
    map_file = find_map(story_file.parent / story.map if story.map.endswith(".tmj") else story.map)
    town = Town.load(map_file)
    for persona in cast:
        check_resident(town, persona)
        check_day(persona)
    folder = out or _free_folder(story_file.stem)
    if folder.exists():
        raise RunExists(
            "this folder is there already",
            where=str(folder),
            next=f"Choose another --out, or run: localville resume {folder}",
        )
    weights = _find_weights(model)
    config = RunConfig(
        scenario=story.name,
        model=str(weights.path.resolve())
        if weights and weights.entry is None
        else weights.name
        if weights
        else SCRIPTED,
        seed=seed,
        start=first.seconds,
        until=last.seconds,
        step_seconds=step_seconds,
        agents=tuple(persona.name for persona in cast),
        profile=PROFILES["paper"],
    )
    engine, embedder = _open_model(weights, slots, threads)
    try:
        cast_files = sorted((story_file.parent / story.cast).glob("*.toml"))
        embedding = {"name": embedder.name, "dimension": embedder.dimension}
        written = {"map_file": str(map_file.resolve()), **manifest(engine.manifest(), embedding, map_file, cast_files)}
        ways = dict(weights.ways) if weights else {"importance": "continue", "place": "channel"}
        opened = Run.create(folder, config, cast, town, engine, embedder, ways, written)
        _live(opened, folder, as_json)
    finally:
        engine.close()


def resume(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    until: Annotated[str, typer.Option(help="Live on until then instead, e.g. 'day 2 09:00'.")] = "",
    slots: Slots = 8,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a run where it was left."""
    from localville.clock import SimTime, parse_moment
    from localville.errors import RunError
    from localville.record.reader import RunReader
    from localville.sim.run import Run
    from localville.sim.start import file_sha256
    from localville.world.places import Town

    with RunReader.open(folder) as reader:
        written = reader.manifest
    config = written["config"]
    map_file = Path(written["map_file"])
    if not map_file.is_file() or file_sha256(map_file) != written["map"]["sha256"]:
        raise RunError("the map is not the one this run began with", where=str(map_file), next="Put the old one back")
    weights = _find_weights(config["model"])
    recorded = written["engine"].get("model", {}).get("sha256")
    if weights is not None and weights.sha256 != recorded:
        raise RunError(
            f"the model '{config['model']}' is not the file this run began with",
            where=str(folder),
            next="Put the old file back, or begin a new run",
        )
    town = Town.load(map_file)
    engine, embedder = _open_model(weights, slots, threads)
    try:
        opened = Run.resume(folder, town, engine, embedder)
        if until:
            later = parse_moment(until, SimTime(opened.config.start)).seconds
            opened.config = opened.config.model_copy(update={"until": later})
        _live(opened, folder, as_json)
    finally:
        engine.close()


def list_runs(
    folder: Annotated[Path, typer.Argument(help="Where runs lie.")] = Path("runs"), as_json: AsJson = False
) -> None:
    """List the runs of a folder: what was lived, with which model, how far."""
    from localville.clock import SimTime
    from localville.errors import RunError
    from localville.record.reader import RunReader

    rows: list[dict[str, Any]] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not (path / "run.db").is_file():
            continue
        try:
            with RunReader.open(path) as reader:
                config, (step, _, end), at = reader.manifest["config"], reader.last_step(), reader.lived_until()
        except RunError as fault:
            rows.append({"run": str(path), "fault": str(fault)})
            continue
        until = SimTime(config["until"]).iso
        rows.append(
            {
                "run": str(path),
                "scenario": config["scenario"],
                "model": Path(config["model"]).name,
                "seed": config["seed"],
            }
            | {"at": at.iso, "until": until, "steps": step + 1, "log_hash": end}
        )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        about = row.get("fault") or f"{row['scenario']}, {row['model']}, seed {row['seed']}, lived until {row['at']}"
        typer.echo(f"{row['run']:24}  {about}")
    if not rows:
        typer.echo(f"No runs in {folder}. Begin one: localville run")


def _live(opened: Run, folder: Path, as_json: bool) -> None:
    """Lives a run under the eye of the screen. The first Ctrl-C (or SIGTERM) ends it after the current step."""
    from localville.cli.alarms import SHOWN, measure, print_alarms
    from localville.cli.live import LiveScreen
    from localville.cli.show import print_summary, print_timelines

    interrupted: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.append(number)
        typer.echo("Ending after this step; once more ends at once, with the steps before it saved.", err=True)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with LiveScreen(opened) as screen:
            opened.live(screen, stop=lambda: bool(interrupted))
        measure(opened)
    finally:
        opened.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    if not as_json:
        print_timelines(folder)
        print_alarms(folder, limit=SHOWN)
    print_summary(folder, as_json)
    if interrupted and not opened.finished:
        typer.echo(f"Saved. Go on: localville resume {folder}", err=True)
        raise typer.Exit(130)


def _find_weights(model: str) -> ModelFile | None:
    """The weights a name or path stands for; None for the scripted engine."""
    from localville.llm.catalog import find_model, load_catalog

    return None if model == SCRIPTED else find_model(model or load_catalog().default.model)


def _open_model(weights: ModelFile | None, slots: int, threads: int | None) -> tuple[Engine, Embedder]:
    from localville.memory.embed import HashingEmbedder, SentenceEmbedder

    if weights is None:
        from localville.llm.scripted import ScriptedEngine

        return ScriptedEngine(), HashingEmbedder()
    from localville.llm.catalog import embedder_path
    from localville.llm.llamacpp import LlamaCppEngine

    with Transfer():
        embedder = SentenceEmbedder(embedder_path())
        engine = LlamaCppEngine(weights.path, slots=slots, threads=threads, keep_prefixes=True, sha256=weights.sha256)
        return engine, embedder


def _free_folder(scenario: str) -> Path:
    """runs/SCENARIO-N with the first number that is free."""
    number = 1
    while (folder := Path("runs") / f"{scenario}-{number}").exists():
        number += 1
    return folder
