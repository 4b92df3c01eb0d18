"""The command line: parses, calls, prints. Heavy packages are imported inside the commands that use them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from localville import __version__
from localville.cli.doctor import doctor
from localville.cli.models import models_app
from localville.cli.plain import printable
from localville.cli.run import list_runs, resume, run
from localville.cli.show import memories, show
from localville.errors import LocalvilleError

app = typer.Typer(
    name="localville",
    help="A town of generative agents that runs wholly on your own machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing the help with rich would double the time it takes
)
app.command()(run)
app.command()(resume)
app.command("list")(list_runs)
app.command()(show)
app.command()(memories)
app.add_typer(models_app)
app.command()(doctor)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"localville {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A town of generative agents that runs wholly on your own machine."""


def main() -> None:
    """Runs the command line. A stated failure is one sentence on stderr and exit code 1; Ctrl-C is 130."""
    try:
        app()
    except LocalvilleError as failure:
        # What it quotes (names, paths, keys of a file) is shown, never obeyed, and stays on its line.
        line = printable(" ".join(str(failure).splitlines()))
        typer.secho(f"localville: {line}", err=True, fg=typer.colors.RED)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("localville: interrupted", err=True)
        sys.exit(130)
