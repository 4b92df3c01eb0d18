"""`localville models`: list, pull, verify and add. Parses, calls `localville.llm`, prints."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from localville.llm.catalog import Catalog, Entry

models_app = typer.Typer(
    name="models",
    help="Find, fetch, check and add the models a town can think with.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


class Prepare(StrEnum):
    """The quantizations a model can be prepared as; `none` takes it as it is."""

    NONE = "none"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


@models_app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show every known model: size, licence, whether it is on this machine, and where its weights lie."""
    from localville.llm.catalog import load_catalog

    catalog = load_catalog()
    rows = [_row(catalog, entry) for entry in catalog.entries]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    from localville.llm.model_files import models_dir

    console = Console(soft_wrap=True, highlight=False)
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        head = f"{row['name']:{width}}  {_size(row['bytes']):>7}  "
        console.print(Text(head).append(_here(row), style="green" if row["ready"] else "dim"))
        licence = f"{row['licence']} (conditions)" if row["conditions"] else row["licence"]
        remarks = [licence, "tested" if row["tested"] else "not tested by us", row["note"]]
        console.print(Text("    " + " · ".join(filter(None, remarks)), style="dim"))
    console.print(f"\nThey lie in {models_dir()}. Fetch one: localville models pull NAME", markup=False)


def _row(catalog: Catalog, entry: Entry) -> dict[str, Any]:
    from localville.llm import model_files

    state = model_files.state_of(entry)
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": "embedder" if entry.is_embedder else "language model",
        "default": entry.name in (catalog.default.model, catalog.default.embedder),
        "bytes": entry.size_bytes,
        "licence": entry.licence,
        "licence_url": entry.licence_url,
        "conditions": entry.conditions,
        "tested": entry.tested,
        "state": str(state),
        "installed": state is not model_files.State.MISSING,
        "ready": state is model_files.State.READY,
        "prepare": entry.prepare,
        "prepare_reason": entry.prepare_reason,
        "ways": {} if entry.is_embedder else catalog.ways_of(entry),
        "note": entry.note,
        "path": str(model_files.ready_path(entry)),
    }


def _size(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _here(row: dict[str, Any]) -> str:
    prepared = f", prepared as {row['prepare']}" if row["ready"] and row["prepare"] != "none" else ""
    return f"{row['state']}{prepared}{' · default' if row['default'] else ''}"


@models_app.command()
def pull(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Models, by name or its beginning; none: the default ones."),
    ] = None,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="You have read and accept the model's licence.")
    ] = False,
) -> None:
    """Fetch a model, check its sha256, and prepare it where the catalog says so."""
    from rich.console import Console

    from localville.cli.transfer import Transfer
    from localville.llm import fetch, user_catalog
    from localville.llm.catalog import load_catalog

    catalog = load_catalog()
    # All names first: a mistyped last one must not show up after an hour of fetching.
    entries = [catalog.find(name) for name in names or (catalog.default.model, catalog.default.embedder)]
    stderr = Console(stderr=True, soft_wrap=True, highlight=False)
    for entry in entries:
        try:
            with Transfer() as report:
                path = fetch.pull(entry, accept_licence=accept_licence, report=report)
        except KeyboardInterrupt:
            stderr.print("Interrupted. What has arrived is kept; the same command goes on from there.")
            raise typer.Exit(130) from None
        if entry.digest is None:
            pinned = user_catalog.own_entry(entry.name)
            stderr.print(f"Its sha256 is {pinned.sha256}; it is recorded, other bytes will be refused from now on.")
        Console(soft_wrap=True, highlight=False).print(f"{entry.name} is ready: {path}", markup=False)


@models_app.command()
def verify(
    name: Annotated[str | None, typer.Argument(help="A model; none: all that are on this machine.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read weights again and compare them with their sha256; exit 1 when one differs."""
    from rich.console import Console

    from localville.cli.transfer import Transfer
    from localville.llm import model_files
    from localville.llm.catalog import load_catalog

    catalog = load_catalog()
    entries = [catalog.find(name)] if name else catalog.entries
    if not name:
        entries = [entry for entry in entries if model_files.state_of(entry) is not model_files.State.MISSING]
    with Transfer() as report:
        verdicts = [model_files.verify(entry, report) for entry in entries]
    if as_json:
        typer.echo(json.dumps([vars(verdict) for verdict in verdicts], indent=2))
    else:
        console = Console(soft_wrap=True, highlight=False)
        for verdict in verdicts:
            said = f"FAULT: {verdict.fault}. {verdict.next}" if verdict.fault else f"ok, sha256 {verdict.sha256}"
            console.print(f"{verdict.name}: {said}", markup=False)
            if verdict.remark:
                console.print(f"    {verdict.remark}", markup=False)
        if not verdicts:
            console.print("No model is on this machine. Run: localville models pull")
    if any(verdict.fault for verdict in verdicts):
        raise typer.Exit(1)


@models_app.command()
def add(
    target: Annotated[str, typer.Argument(metavar="PATH-or-URL", help="A GGUF file, or its https:// address.")],
    name: Annotated[str | None, typer.Option(help="What to call it; otherwise made from the file's name.")] = None,
    sha256: Annotated[
        str | None, typer.Option(help="What its bytes must be. A URL without it is pinned at its first fetch.")
    ] = None,
    prepare: Annotated[Prepare, typer.Option(help="Requantize it: q8_0 or q4_0.")] = Prepare.NONE,
    as_json: AsJson = False,
) -> None:
    """Add a GGUF of your own to your catalog, by path or URL."""
    from rich.console import Console

    from localville.cli.transfer import Transfer
    from localville.llm import user_catalog
    from localville.llm.catalog import load_catalog

    with Transfer() as report:
        entry = user_catalog.add(target, name=name, sha256=sha256, prepare=prepare.value, report=report)
    if as_json:
        typer.echo(json.dumps(_row(load_catalog(), entry), indent=2))
        return
    if entry.path is None or entry.prepare != "none":
        following = f"fetch it: localville models pull {entry.name}"
    else:
        following = f"use it: localville run --model {entry.name}"
    Console(soft_wrap=True, highlight=False).print(f"Added {entry.name}. Now {following}", markup=False)
    if entry.sha256 is None:
        hint = "It has no sha256 yet: the first fetch records one, and other bytes are refused from then on."
        Console(stderr=True, soft_wrap=True).print(hint)
