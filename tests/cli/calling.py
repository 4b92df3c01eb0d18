"""Calls the command line in tests, in this process, as a user's shell would."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from localville.cli.main import app, main


class Outcome(NamedTuple):
    """What a user sees: the exit code and both streams."""

    code: int
    out: str
    err: str


def call(*arguments: object) -> Outcome:
    """Runs a command that should work; what it raises is raised here."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def call_main(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: object) -> Outcome:
    """Runs the whole program through ``main``, with all it writes, be it from C."""
    monkeypatch.setattr(sys, "argv", ["localville", *(str(argument) for argument in arguments)])
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    streams = capfd.readouterr()
    code = ended.value.code
    return Outcome(code if isinstance(code, int) else 1 if code else 0, streams.out, streams.err)
