"""Token masks: which tokens may come next so that the answer fits its form (DESIGN law 4).

One ``Constraints`` belongs to one vocabulary; it compiles each grammar or model once and hands out ``Matcher``s, one an
answer. Compiling costs milliseconds, a matcher well under one, a mask some 10-40 microseconds at 49 k tokens.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any

import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from localville.errors import EngineError, GrammarError
from localville.llm.bounds import bounded_schema
from localville.llm.engine import Fill, Grammar, Write
from localville.llm.gbnf import ROOT, Alt, Chars, Literal, Node, Ref, Repeat, Seq, parse

BYTE_TOKENS = 256
"""Tokens 0..255 of the byte vocabulary are the bytes themselves."""


class Matcher:
    """Follows one answer token by token. Not for sharing: make one an answer."""

    def __init__(self, compiled: Any, name: str, n_vocab: int) -> None:
        self._matcher = compiled
        self._name = name
        self._n_vocab = n_vocab

    def mask(self) -> NDArray[np.bool_]:
        """Which tokens may come next: bool[n_vocab]. When the answer is whole, the end-of-generation tokens too."""
        packed = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._check()
        # unpackbits takes 71 us at 49 k tokens, llguidance's own numpy kernel 514 us (ENGINE.md 4).
        return np.unpackbits(packed, count=self._n_vocab, bitorder="little").view(np.bool_)

    def forced(self) -> list[int]:
        """The tokens that are the only way on, as the tokenizer spells them; [] if there is a choice. Not committed."""
        tokens: list[int] = self._matcher.compute_ff_tokens()
        self._check()
        return tokens

    def commit(self, token: int) -> None:
        """Goes on by one token. Raises EngineError if the mask forbids it, and the matcher cannot be used again."""
        self._matcher.consume_token(token)
        self._check()

    def accepting(self) -> bool:
        """Whether the answer is whole if it ends here."""
        return bool(self._matcher.is_accepting())

    def done(self) -> bool:
        """Whether only an end-of-generation token is allowed, so that none need be generated."""
        return bool(self._matcher.is_stopped())

    def _check(self) -> None:
        if self._matcher.is_error():
            raise EngineError(str(self._matcher.get_error()).strip(), where=f"grammar '{self._name}'")


class Constraints:
    """Makes matchers for one vocabulary. Must not outlive the model its vocabulary belongs to."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._compiled: dict[str, Any] = {}

    @classmethod
    def for_llama(cls, vocab: Any) -> Constraints:
        """Reads a llama.cpp vocabulary (a ``llama_vocab`` pointer). Takes about half a second; do it once a model."""
        return cls(_llama_tokenizer(vocab))

    @classmethod
    def for_bytes(cls) -> Constraints:
        """Takes the 256 bytes as vocabulary: for engines without a model, and to check texts."""
        return cls(LLTokenizer("byte"))

    @property
    def n_vocab(self) -> int:
        return int(self._tokenizer.vocab_size)

    def matcher(self, form: Write | Fill) -> Matcher:
        """A fresh matcher. Raises GrammarError naming the grammar or field when the form cannot be compiled."""
        if isinstance(form, Write):
            name, key = form.grammar.name, form.grammar.key
        else:
            schema = bounded_schema(form.model)
            name, key = form.model.__name__, json.dumps(schema)
        if key not in self._compiled:
            source = (
                LLMatcher.grammar_from_lark(to_lark(form.grammar))
                if isinstance(form, Write)
                # Flexible whitespace would let a model write blanks until its budget ends.
                else LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
            )
            matcher = LLMatcher(self._tokenizer, source)
            if matcher.is_error():
                raise GrammarError(str(matcher.get_error()).strip(), where=f"grammar '{name}'")
            self._compiled[key] = matcher
        return Matcher(self._compiled[key].deep_copy(), name, self.n_vocab)

    def fits(self, form: Write | Fill, text: str) -> bool:
        """Whether a text is a whole answer; for a byte vocabulary only."""
        matcher = self.matcher(form)._matcher
        raw = list(text.encode())
        return matcher.try_consume_tokens(raw) == len(raw) and bool(matcher.is_accepting())


def to_lark(grammar: Grammar) -> str:
    """Translates GBNF for llguidance, with the whole grammar as *one* terminal.

    llguidance lexes terminals greedily and never goes back: with several terminals, a phrase that may go on with a
    space would swallow the space of the ``" @ "`` that follows it, and the way on would be closed. llguidance's own
    converter makes several terminals as soon as ``root`` is a sequence.
    """
    rules = parse(grammar)
    # Numbered names: GBNF tells `a-b` from `A-B`; terminals are upper case without hyphens.
    names = {name: f"R{number}" for number, name in enumerate(rules)}
    lines = [f"{names[name]}: {_lark(node, names)}" for name, node in rules.items()]
    return "\n".join([f"start: {names[ROOT]}", *lines, ""])


def _lark(node: Node, names: dict[str, str]) -> str:
    match node:
        case Literal(text):
            return json.dumps(text, ensure_ascii=False)
        case Chars(ranges, negated):
            body = "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
            return f"/[{'^' if negated else ''}{body}]/" if ranges else "/(.|\\n)/"
        case Ref(name):
            return names[name]
        case Seq(parts):
            return " ".join(_lark(part, names) for part in parts) or '""'
        case Alt(ways):
            return "(" + " | ".join(_lark(way, names) for way in ways) + ")"
        case Repeat(part, low, high):
            return f"({_lark(part, names)}){{{low},{high}}}"


def _llama_tokenizer(vocab: Any) -> Any:
    """Builds llguidance's tokenizer from a llama.cpp vocabulary.

    By id, as bytes: a str-keyed dictionary loses tokens that are no whole UTF-8 (356 of SmolLM2's 49,152, ENGINE.md 4).
    With every end-of-generation id, the vocabulary's own first: a chat model may end on any of them.
    """
    from localville.llm.library import llama_cpp

    special = (
        llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN | llama_cpp.LLAMA_TOKEN_ATTR_UNUSED
    )
    n_vocab = llama_cpp.llama_vocab_n_tokens(vocab)
    size = 4096
    buffer = ctypes.create_string_buffer(size)
    tokens: list[bytes] = []
    for token in range(n_vocab):
        length = llama_cpp.llama_token_to_piece(vocab, token, buffer, size, 0, True)
        if length < 0:
            raise EngineError(f"token {token} is longer than {size} bytes", where="the model's vocabulary")
        piece = ctypes.string_at(buffer, length)
        attributes = llama_cpp.llama_vocab_get_attr(vocab, token)
        marker = attributes & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED and piece[:1] == b"<" and piece[-1:] == b">"
        # 0xff begins no UTF-8: so llguidance knows special tokens, which no grammar's text may spell.
        tokens.append(b"\xff" + piece if attributes & special or marker else piece)
    eos = llama_cpp.llama_vocab_eos(vocab)
    ends = [token for token in range(n_vocab) if token != eos and llama_cpp.llama_vocab_is_eog(vocab, token)]
    if eos < 0 and not ends:
        raise EngineError("the vocabulary has no end-of-generation token", where="the model's vocabulary")
    return LLTokenizer.from_llamacpp(
        tokens=tokens,
        vocab_ptr=vocab,
        tokenize_fptr=ctypes.cast(llama_cpp.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value,
        eos_token=[eos, *ends] if eos >= 0 else ends,
    )
