"""Record and replay: an engine that remembers every answer in a file, and needs no model for what it remembers.

    JournalEngine(path, LlamaCppEngine(...))    answers from the file where it can; else asks the engine and records
    JournalEngine(path)                         replays; an ask that was never answered is an error that says which

An answer depends on its ask and seed alone (DESIGN law 3), so these are its key: purpose, prompt, form and seed. A
replay thus gives the recorded run on any machine, also where the model itself would compute other last bits.

The file is JSON lines: a head that tells what produced the answers, then a line an answer, flushed at every poll.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel

from localville.errors import EngineError, RunCorrupt
from localville.llm.engine import Answer, Ask, Engine, Fill, Form, Grammar, Prompt, Ticket, Tokens

FORMAT = 1
_SHOWN = 120
"""How much of a prompt's end an error shows."""


class JournalEngine:
    """Wraps an engine to record its answers, or replays them without one."""

    def __init__(self, path: Path, engine: Engine | None = None) -> None:
        self._path = path
        self._engine = engine
        self._head, self._lines = _read(path)
        self._prompts = {line["prompt"] for line in self._lines.values()}
        self._file: TextIO | None = None
        if engine is not None:
            self._file = self._open(engine)
        elif not self._head:
            raise EngineError("there is no journal to replay", where=str(path))
        self._tickets = 0
        self._known: list[tuple[Ticket, Answer]] = []
        self._asked: dict[Ticket, tuple[Ticket, Ask, int]] = {}

    def submit(self, ask: Ask, seed: int) -> Ticket:
        """Takes an ask. Raises EngineError when replaying an ask that was not recorded."""
        line = self._lines.get(ask_key(ask, seed))
        if line is None and self._engine is None:
            raise self._missing(ask, seed)
        self._tickets += 1
        if line is not None:
            self._known.append((self._tickets, _answer(ask, line)))
        elif self._engine is not None:
            self._asked[self._engine.submit(ask, seed)] = (self._tickets, ask, seed)
        return self._tickets

    def poll(self) -> list[tuple[Ticket, Answer]]:
        if self._known:
            known, self._known = self._known, []
            return known
        done = []
        for theirs, answer in self._engine.poll() if self._asked and self._engine else ():
            ticket, ask, seed = self._asked.pop(theirs)
            self._record(ask, seed, answer)
            done.append((ticket, answer))
        if self._file:
            self._file.flush()
        return done

    def manifest(self) -> dict[str, Any]:
        """The recording engine's own manifest, so a replayed run tells what once produced its answers."""
        return {**self._head["manifest"], "journal": "replayed" if self._engine is None else "recording"}

    def close(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
        if self._engine:
            self._engine.close()

    def _open(self, engine: Engine) -> TextIO:
        manifest = engine.manifest()
        recorded = self._head.get("manifest", manifest)
        if _source(recorded) != _source(manifest):
            raise EngineError(
                f"its answers come from {_source(recorded)}, not {_source(manifest)}",
                where=f"journal {self._path}",
                next="Record into another file",
            )
        file = self._path.open("a", encoding="utf-8")
        if not self._head:
            self._head = {"journal": FORMAT, "manifest": manifest}
            file.write(json.dumps(self._head, ensure_ascii=False) + "\n")
        return file

    def _record(self, ask: Ask, seed: int, answer: Answer) -> None:
        key = ask_key(ask, seed)
        line: dict[str, Any] = {"key": key, "purpose": ask.purpose, "prompt": ask.prompt.key, "seed": seed}
        for field in dataclasses.fields(answer):
            value = getattr(answer, field.name)
            line[field.name] = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        line["tokens"] = dataclasses.asdict(answer.tokens)
        self._lines[key] = line
        self._prompts.add(line["prompt"])
        assert self._file is not None
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _missing(self, ask: Ask, seed: int) -> EngineError:
        known = "with another form or seed only" if ask.prompt.key in self._prompts else "not even its prompt"
        return EngineError(
            f"the replay diverges: ask '{ask.purpose}' with seed {seed} was never answered, {known}, "
            f"after {self._tickets} that were; its prompt ends {ask.prompt.text()[-_SHOWN:]!r}",
            where=f"journal {self._path}",
            next="Replay with the version and settings it was recorded with, or give the model to record on",
        )


def ask_key(ask: Ask, seed: int) -> str:
    """The identity of an answer, the same on every machine and in every process."""
    parts = (ask.purpose, ask.prompt.key, form_key(ask.form), str(seed))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def form_key(form: Form) -> str:
    """Everything that a form says, as text: two forms with one key ask for the same thing."""
    values = {field.name: _plain(getattr(form, field.name)) for field in dataclasses.fields(form)}
    return json.dumps([type(form).__name__, values], sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Prompt | Grammar):
        return value.key
    if isinstance(value, type) and issubclass(value, BaseModel):
        return value.model_json_schema()
    return value


def _source(manifest: dict[str, Any]) -> str:
    """What answers: engine and model. Slots, threads and the like may differ, since no answer depends on them."""
    model = manifest.get("model", "no model")
    return f"{manifest['engine']} with {model['sha256'] if isinstance(model, dict) else model}"


def _answer(ask: Ask, line: dict[str, Any]) -> Answer:
    value = ask.form.model.model_validate(line["value"]) if isinstance(ask.form, Fill) else line["value"]
    return Answer(
        value,
        probabilities=_floats(line["probabilities"]),
        scores=_floats(line["scores"]),
        tokens=Tokens(**line["tokens"]),
        seconds=line["seconds"],
        attempt=line["attempt"],
    )


def _floats(values: list[float] | None) -> tuple[float, ...] | None:
    return None if values is None else tuple(values)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Reads head and lines; cuts off a last line that a killed run left unfinished."""
    if not path.exists():
        return {}, {}
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    try:
        head, *lines = [json.loads(line) for line in whole.split(b"\n")[:-1]] or [{}]
        if head != {} and (head["journal"] != FORMAT or not head["manifest"]["engine"]):
            raise ValueError("of another format")
        found = {line["key"]: line for line in lines}
    except (ValueError, KeyError, TypeError):
        raise RunCorrupt("this is no journal of answers, or it is damaged", where=str(path)) from None
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return head, found
