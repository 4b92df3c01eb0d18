"""The engine over llama.cpp: many asks at once, each with the same bits as if it were alone.

    engine = LlamaCppEngine(Path("model.gguf"))
    answers = generate(engine, [(ask, seed), …])

From the inside out: `weights.py` (a GGUF and its vocabulary), `context.py` (lanes of tokens), `selftest.py` (what this
model's bits depend on), `slots.py` and `prefix_files.py` (states kept at the cuts of prompts), `strands.py` (what an ask
feeds and wants), `batcher.py` (which strands share a call), `questions.py` with `scored.py` and `written.py` (asks to
strands, results to answers).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from localville.assets import cache_dir
from localville.errors import AskTooLong, EngineError, LocalvilleError
from localville.llm.batcher import Batcher, Trace
from localville.llm.chat import detect
from localville.llm.constraints import Constraints
from localville.llm.context import Context
from localville.llm.desk import Desk
from localville.llm.engine import Answer, Ask, Ticket
from localville.llm.library import system_info
from localville.llm.prefix_files import PrefixFiles
from localville.llm.questions import Question, question
from localville.llm.selftest import RowRule, known_rule, machine_mark
from localville.llm.slots import GRID, PrefixStore
from localville.llm.strands import Stats
from localville.llm.weights import Weights, sha256_of

CONTEXT_TOKENS = 2048
"""Prompt and answer of one ask. Small models use little more; a lane of the 1.5B takes 60 MB."""
CACHE_BYTES = 512 << 20
"""Snapshots of prefixes: about 17 thousand tokens of the 1.5B; with twice as much a morning took more than 3 GB."""


@dataclass(frozen=True, slots=True)
class _Open:
    """An ask under way; ``since`` is when it was submitted, on the clock of perf_counter."""

    asked: Question
    seed: int
    since: float


class LlamaCppEngine:
    """Answers asks with a GGUF model (see `Engine`). Each answer depends on ask, seed and model file alone.

    ``slots``: asks under way at once. ``context_tokens``: prompt and answer of one ask. ``rule``: the row rule, if it
    is known; None lets the self-test find it (`selftest.py`). ``repack`` and ``gpu_layers`` go to llama.cpp.
    ``keep_prefixes``: the states of long constant texts stay on disk for the next engine (`prefix_files.py`).
    ``sha256``: the file's, if it was computed before.
    """

    def __init__(
        self,
        path: Path,
        *,
        slots: int = 8,
        threads: int | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        cache_bytes: int = CACHE_BYTES,
        keep_prefixes: bool = False,
        rule: str | None = None,
        repack: bool = True,
        gpu_layers: int = 0,
        sha256: str | None = None,
    ) -> None:
        if slots < 1:
            raise EngineError(f"{slots} slots are not possible", next="Choose at least one")
        self._threads = threads or default_threads()
        self._slots, self._gpu_layers, self._repack, self._sha256 = slots, gpu_layers, repack, sha256
        self._weights = Weights(path, gpu_layers=gpu_layers, repack=repack)
        self._rule = RowRule.parse(rule) if rule else known_rule(self._weights, threads=self._threads)
        # Lanes that may never share a call would only wait for each other.
        lanes = slots if self._rule.joins else min(slots, self._rule.singles)
        self._context = Context(self._weights, lanes=lanes, cells=context_tokens, threads=self._threads)
        self.stats = Stats()
        store = PrefixStore(cache_bytes if self._rule.restores else 0)
        files = None
        if keep_prefixes and self._rule.restores:
            mark = f"{machine_mark(self._weights, threads=self._threads)} {GRID} {lanes} {self._context.cells}"
            files = PrefixFiles(cache_dir() / "prefixes", mark)
        self._batcher = Batcher(self._context, store, self.stats, self._rule, files)
        template = detect(self._weights.meta("tokenizer.chat_template"))
        constraints = Constraints.for_llama(self._weights.vocab)
        self._desk = Desk(self._weights, template, constraints, self.stats)
        self._open: dict[Ticket, _Open] = {}
        self._done: dict[Ticket, Answer] = {}
        self._tickets = 0
        self._broken = self._closed = False

    def submit(self, ask: Ask, seed: int) -> Ticket:
        asked = question(self._tickets + 1, ask, seed, self._desk)
        if asked.longest() > self._context.cells:
            raise AskTooLong(
                f"prompt and answer need up to {asked.longest()} tokens, the context has {self._context.cells}",
                where=f"ask '{ask.purpose}'",
                next="Shorten the prompt, or give the engine more context_tokens",
            )
        self._tickets = asked.ticket
        self.stats.asks += 1
        for strand in asked.strands:
            self._batcher.add(strand)
        self._open[asked.ticket] = _Open(asked, seed, perf_counter())
        return asked.ticket

    def poll(self) -> list[tuple[Ticket, Answer]]:
        if self._broken:
            self._mend()
        # An exception from anywhere below, Ctrl-C too, leaves this mark for the next poll.
        self._broken = True
        while self._open and not self._done:
            self._work()
        self._broken = False
        done, self._done = sorted(self._done.items()), {}
        return done

    def _mend(self) -> None:
        """Asks everything anew that was under way when the last poll was interrupted; the bits will be the same."""
        self._batcher.reset()
        for ticket in self._open.keys() & self._done.keys():
            del self._open[ticket]
        for ticket, entry in self._open.items():
            asked = question(ticket, entry.asked.ask, entry.seed, self._desk)
            self._open[ticket] = replace(entry, asked=asked)
            for strand in asked.strands:
                self._batcher.add(strand)

    def _work(self) -> None:
        # A ticket is unknown if its submit was interrupted; nobody waits for it.
        for ticket in sorted({strand.order[0] for strand in self._batcher.step()} & self._open.keys()):
            asked = self._open[ticket].asked
            if not all(strand.done for strand in asked.strands):
                continue
            try:
                result = asked.result()
            except LocalvilleError:
                del self._open[ticket]  # this ask has failed for good; the others can go on
                raise
            if isinstance(result, Answer):
                self._finish(ticket, result)
            else:
                self.stats.retries += 1
                self._batcher.add(result)

    def _finish(self, ticket: Ticket, answer: Answer) -> None:
        self._done[ticket] = replace(answer, seconds=perf_counter() - self._open[ticket].since)
        del self._open[ticket]
        self.stats.prompt_tokens += answer.tokens.prompt
        self.stats.reused_tokens += answer.tokens.reused
        self.stats.forced_tokens += answer.tokens.forced
        self.stats.generated_tokens += answer.tokens.generated

    def trace(self) -> list[Trace]:
        """From now on notes the bits that answers come from; for tests of the row rule."""
        self._batcher.trace = []
        return self._batcher.trace

    def manifest(self) -> dict[str, Any]:
        path = self._weights.path
        self._sha256 = self._sha256 or sha256_of(path)
        return {
            "engine": "llamacpp",
            "library": f"llama-cpp-python {version('llama_cpp_python')}",
            "model": {
                "file": path.name,
                "bytes": path.stat().st_size,
                "sha256": self._sha256,
                "description": self._weights.description,
                "parameters": self._weights.n_params,
                "template": self._desk.template.name,
            },
            "profile": {
                "row_rule": str(self._rule),
                "repack": self._repack,
                "flash_attention": False,
                "kv_unified": False,
                "kv_type": "f16",
                "grid": GRID,
                "context_tokens": self._context.cells,
                "gpu_layers": self._gpu_layers,
            },
            "machine": {"slots": self._slots, "threads": self._threads, "features": system_info()},
        }

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._context.close()
            self._weights.close()


def default_threads() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
