"""Written questions: one strand that writes, and another with the next derived seed if the budget cut it off."""

from __future__ import annotations

from pydantic import ValidationError

from localville.errors import AnswerUnfinished, GrammarError
from localville.llm.chat import blocks
from localville.llm.desk import Desk
from localville.llm.engine import Answer, Ask, Fill, Tokens, Write
from localville.llm.strands import Strand, Writing

ATTEMPTS = 3
"""Times an answer is tried before AnswerUnfinished; DESIGN law 4 counts every retry."""


class Written:
    """Text or a filled model."""

    def __init__(self, ticket: int, ask: Ask, seed: int, desk: Desk) -> None:
        assert isinstance(ask.form, Write | Fill)
        self.ticket, self.ask = ticket, ask
        self._form, self._seed, self._desk, self._attempt = ask.form, seed, desk, 0
        desk.constraints.matcher(ask.form)  # a form that cannot be compiled is told at once
        self._prefix = desk.prefix(blocks(ask.prompt, desk.template))
        said = ask.form.said if isinstance(ask.form, Write) else ()
        self._said = frozenset(token for text in said for token in desk.weights.tokens(f" {text}"))
        self._forced = self._generated = self._prefilled = 0
        self.strands = [self._strand()]

    def longest(self) -> int:
        return len(self._prefix) + self._form.max_tokens

    def _strand(self) -> Strand:
        attempt = self._attempt
        return Strand(
            (self.ticket, attempt),
            self._prefix,
            lambda: Writing(
                self._form,
                self._desk.constraints.matcher(self._form),
                self._seed,
                attempt,
                self._desk.weights.ends,
                self._desk.weights.words,
                self._said,
                self._desk.stats,
            ),
        )

    def result(self) -> Answer | Strand:
        strand = self.strands[-1]
        writing = strand.program
        assert isinstance(writing, Writing)
        self._forced += writing.forced
        self._generated += writing.generated
        self._prefilled += strand.prefilled
        if not writing.finished:
            self._attempt += 1
            if self._attempt == ATTEMPTS:
                raise AnswerUnfinished(
                    f"the answer was cut off by its budget of {self._form.max_tokens} tokens at {ATTEMPTS} attempts",
                    where=f"ask '{self.ask.purpose}'",
                    next="Raise max_tokens, or bound the grammar more tightly",
                )
            self.strands.append(self._strand())
            return self.strands[-1]
        prompt = len(self._prefix) * len(self.strands)
        text = self._desk.weights.text(writing.tokens)
        return Answer(
            self._value(text),
            tokens=Tokens(prompt, prompt - self._prefilled, self._forced, self._generated),
            attempt=self._attempt,
        )

    def _value(self, text: str) -> object:
        if isinstance(self._form, Write):
            return text
        try:
            return self._form.model.model_validate_json(text)
        except ValidationError as error:
            # What a validator in Python demands cannot be told from the schema.
            raise GrammarError(
                f"its validators refuse {text}: {error.errors()[0]['msg']}",
                where=f"model '{self._form.model.__name__}'",
                next="Say it in the schema (bounds, Literal, pattern)",
            ) from None
