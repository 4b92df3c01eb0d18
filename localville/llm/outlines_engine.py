"""A plain reference engine: outlines' llama.cpp path, one ask at a time, nothing shared between two asks.

It says in outlines' own terms what each form is (``Literal`` for Choose and Rate, ``CFG`` for Write, ``JsonSchema`` of
a pydantic model for Fill), masks with its llguidance backend and samples in llama-cpp-python. The fast engine can be
held against it; it is no faster way to anything. How its answers differ from the seam's promises:

* Choose and Rate are *generated* under a mask, token by token, instead of scored: no probabilities or scores, and
  ``framings``, ``baseline``, ``prior``, ``per_token`` and anchors are not looked at.
* The repetition penalty is llama.cpp's, which looks at the last 64 tokens, the prompt's included.
* It reads every prompt anew, and its seeds are 32 bits wide.

outlines and torch take seconds to import, so they are imported with the first engine.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from localville.errors import AnswerUnfinished, AskTooLong, EngineError, GrammarError, PrerequisiteError
from localville.llm.bounds import bounded_schema
from localville.llm.chat import Template, blocks, detect
from localville.llm.constraints import to_lark
from localville.llm.engine import Answer, Ask, Choose, Fill, Form, Prompt, Rate, Ticket, Tokens, Write
from localville.llm.library import llama_cpp
from localville.llm.weights import check_gguf

_SEEDS = 2**32 - 2
"""llama.cpp takes 32 bits and reads 0 and 2**32 - 1 as "any"."""
_COMPILED = 256
"""How many compiled forms are kept."""


class OutlinesEngine:
    """Answers one ask a poll, in the order submitted. ``n_context`` is in tokens."""

    def __init__(self, path: Path, *, n_context: int = 4096, threads: int | None = None) -> None:
        try:
            import outlines
            from outlines.backends.llguidance import LLGuidanceBackend
        except ImportError as error:
            raise PrerequisiteError(
                f"the outlines engine needs the package '{error.name}'",
                next="Install it with: pip install outlines llguidance",
            ) from None
        check_gguf(path)
        self._path = path
        self._llama: Any = llama_cpp.Llama(str(path), n_ctx=n_context, n_threads=threads, verbose=False)
        self._template: Template = detect(self._llama.metadata.get("tokenizer.chat_template"))
        # One backend for all forms: outlines' Generator would read the vocabulary anew for each, half a second an ask.
        # llguidance's reader calls a function that llama-cpp-python has renamed, once a token.
        with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):
            self._backend = LLGuidanceBackend(outlines.from_llamacpp(self._llama))
        self._processors: dict[Form | str, Any] = {}
        self._waiting: deque[tuple[Ticket, Ask, int, list[int]]] = deque()
        self._tickets = 0

    def submit(self, ask: Ask, seed: int) -> Ticket:
        tokens = self._tokens(ask.prompt)
        room = self._llama.n_ctx() - len(tokens)
        if room < _longest(ask.form):
            raise AskTooLong(
                f"{len(tokens)} tokens leave room for {room}, its answer may take {_longest(ask.form)}",
                where=f"ask '{ask.purpose}'",
                next="Raise n_context or shorten the prompt",
            )
        self._tickets += 1
        self._waiting.append((self._tickets, ask, seed, tokens))
        return self._tickets

    def poll(self) -> list[tuple[Ticket, Answer]]:
        if not self._waiting:
            return []
        ticket, ask, seed, tokens = self._waiting.popleft()
        return [(ticket, self._answer(ask, seed, tokens))]

    def manifest(self) -> dict[str, Any]:
        packages = ("outlines", "llguidance", "llama-cpp-python")
        return {"engine": "outlines", "model": self._path.name, **{name: version(name) for name in packages}}

    def close(self) -> None:
        self._waiting.clear()
        self._llama.close()

    def _answer(self, ask: Ask, seed: int, tokens: list[int]) -> Answer:
        form, began = ask.form, time.perf_counter()
        processor = self._processor(form)
        processor.reset()
        # Not outlines' `model(prompt)`: it takes text only, and would read markers that a persona wrote as such.
        completion = self._llama.create_completion(
            tokens,
            max_tokens=_longest(form),
            temperature=form.temperature,
            top_p=form.top_p if isinstance(form, Write | Fill) else 1.0,
            top_k=0,
            min_p=0.0,
            repeat_penalty=form.repetition_penalty if isinstance(form, Write) else 1.0,
            seed=1 + seed % _SEEDS,
            logits_processor=llama_cpp.LogitsProcessorList([processor]),
        )
        # As outlines does after each call: without it the next prompt would start from what this one left.
        self._llama.reset()
        choice = completion["choices"][0]
        if choice["finish_reason"] != "stop":
            raise AnswerUnfinished(
                f"the answer was cut off after {_longest(form)} tokens", where=f"ask '{ask.purpose}'"
            )
        return Answer(
            _value(ask, choice["text"]),
            tokens=Tokens(prompt=len(tokens), generated=completion["usage"]["completion_tokens"]),
            seconds=time.perf_counter() - began,
        )

    def _tokens(self, prompt: Prompt) -> list[int]:
        """Each piece by itself, markers only where the template puts them."""
        opening = [self._llama.token_bos()] if self._llama._model.add_bos_token() else []
        for block in blocks(prompt, self._template):
            for piece in block.pieces:
                opening += self._llama.tokenize(piece.text.encode(), add_bos=False, special=piece.marker)
        return opening

    def _processor(self, form: Form) -> Any:
        from outlines.types import CFG, JsonSchema
        from outlines.types.dsl import python_types_to_terms, to_regex

        match form:
            case Choose() | Rate():
                key = to_regex(python_types_to_terms(Literal[_options(form)]))
                make = self._backend.get_regex_logits_processor
            case Write():
                key, make = CFG(to_lark(form.grammar)).definition, self._backend.get_cfg_logits_processor
            case Fill():
                # Whitespace would let a model write blanks until its budget ends.
                schema = {**bounded_schema(form.model), "x-guidance": {"whitespace_flexible": False}}
                key, make = JsonSchema(schema).schema, self._backend.get_json_schema_logits_processor
        if key not in self._processors:
            while len(self._processors) >= _COMPILED:
                self._processors.pop(next(iter(self._processors)))
            self._processors[key] = make(key)
        return self._processors[key]


def _options(form: Choose | Rate) -> tuple[str, ...]:
    return form.options if isinstance(form, Choose) else tuple(map(str, range(form.low, form.high + 1)))


def _longest(form: Form) -> int:
    """The most tokens an answer may take; an option's at one byte a token, with its end."""
    if isinstance(form, Write | Fill):
        return form.max_tokens
    return max(len(option.encode()) for option in _options(form)) + 1


def _value(ask: Ask, text: str) -> Any:
    match ask.form:
        case Choose(options):
            if text not in options:
                raise EngineError(f"outlines wrote {text!r}, which is no option", where=f"ask '{ask.purpose}'")
            return text
        case Rate():
            return int(text)
        case Write():
            return text
        case Fill(model):
            try:
                return model.model_validate_json(text)
            except ValidationError as error:
                raise GrammarError(
                    f"its validators refuse {text}: {error.errors()[0]['msg']}", where=f"model '{model.__name__}'"
                ) from None
