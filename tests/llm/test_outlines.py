"""The reference engine on outlines: its forms, what it refuses, and that it is imported only when used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from localville.errors import AnswerUnfinished, AskTooLong, ModelMissing, PrerequisiteError
from localville.llm.engine import Ask, Choose, Form, Grammar, Part, Prompt, Rate, Write, generate
from localville.llm.outlines_engine import OutlinesEngine

LINE = Grammar("line", 'root ::= [a-z]{30,40} "\\n"\n')


def ask(form: Form, text: str = "Maria goes to the") -> Ask:
    return Ask("test", Prompt((Part("situation", text),)), form)


def test_outlines_is_imported_only_when_an_engine_is_made() -> None:
    code = (
        "import sys, localville.llm.outlines_engine; "
        "print(sorted({'outlines', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_outlines_the_install_command_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "outlines", None)
    with pytest.raises(PrerequisiteError, match=r"'outlines'\. Install it with: pip install outlines"):
        OutlinesEngine(tmp_path / "model.gguf")


def test_a_missing_file_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing):
        OutlinesEngine(tmp_path / "model.gguf")


@pytest.fixture(scope="module")
def engine(small_model_path: Path) -> Iterator[OutlinesEngine]:
    engine = OutlinesEngine(small_model_path, n_context=256)
    yield engine
    engine.close()


@pytest.mark.model
def test_options_that_begin_alike_or_look_like_patterns(engine: OutlinesEngine) -> None:
    options = (" 1", " 10", " a.c", " [x]*", ' "é" \\ (日)', " ")
    form = Choose(options, temperature=3.0)
    values = {answer.value for answer in generate(engine, [(ask(form, "Pick:"), seed) for seed in range(8)])}
    assert values <= set(options) and len(values) > 1
    assert generate(engine, [(ask(Rate(9, 11)), 2**64 - 1)])[0].value in (9, 10, 11)


@pytest.mark.model
def test_one_ask_a_poll(engine: OutlinesEngine) -> None:
    tickets = [engine.submit(ask(Rate()), 0) for _ in range(2)]
    assert [[ticket for ticket, _ in engine.poll()] for _ in range(3)] == [[tickets[0]], [tickets[1]], []]


@pytest.mark.model
def test_what_does_not_fit_is_refused_and_never_cut(engine: OutlinesEngine) -> None:
    with pytest.raises(AskTooLong, match="ask 'test'"):
        engine.submit(ask(Rate(), "word " * 300), 0)
    engine.submit(ask(Write(LINE, 2)), 0)
    with pytest.raises(AnswerUnfinished, match="cut off after 2 tokens"):
        engine.poll()
    assert engine.poll() == []
