"""Texts of a grammar, written by walking its tree at random: answers without a model, in a millisecond.

A constrained walk over token masks would do the same a hundred times slower; here every step is a step of the grammar,
so there is no dead end to avoid. Rules may be given ready texts (``phrase``: "read a book"), so that a town without a
model still reads like one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from localville.llm.engine import Grammar
from localville.llm.gbnf import ROOT, Alt, Chars, Literal, Node, Ref, Repeat, Rules, Seq, parse

_SHORTER = 0.7
"""Each further repetition is taken with this probability, so that most are short."""
_PRINTABLE = "abcdefghijklmnopqrstuvwxyz"
"""What a negated class is answered with, if allowed; else the first allowed character from the space on."""


def walk(grammar: Grammar, rng: np.random.Generator, ready: Mapping[str, Sequence[str]] | None = None) -> str:
    """Writes one text of the grammar. ``ready`` gives texts for rules by name; they must be texts of those rules."""
    return _Walk(parse(grammar), rng, ready or {}).text()


class _Walk:
    def __init__(self, rules: Rules, rng: np.random.Generator, ready: Mapping[str, Sequence[str]]) -> None:
        self.rules = rules
        self.ready = ready
        # Numbers are drawn a block at a time: a single draw costs microseconds, a text takes hundreds.
        self.rng = rng
        self.block: list[float] = []

    def text(self) -> str:
        out: list[str] = []
        # A stack of our own, not recursion: rules built from the world form chains of some hundred.
        todo: list[Node] = [Ref(ROOT)]
        while todo:
            match todo.pop():
                case Literal(text):
                    out.append(text)
                case Chars(ranges, negated):
                    out.append(self._other(ranges) if negated else self._char(ranges))
                case Ref(name):
                    if texts := self.ready.get(name):
                        out.append(texts[self._below(len(texts))])
                    else:
                        todo.append(self.rules[name])
                case Seq(parts):
                    todo.extend(reversed(parts))
                case Alt(ways):
                    todo.append(ways[self._below(len(ways))])
                case Repeat(part, low, high):
                    times = low
                    while times < high and self._fraction() < _SHORTER:
                        times += 1
                    todo.extend([part] * times)
        return "".join(out)

    def _char(self, ranges: tuple[tuple[int, int], ...]) -> str:
        at = self._below(sum(last - first + 1 for first, last in ranges))
        for first, last in ranges:
            if at <= last - first:
                return chr(first + at)
            at -= last - first + 1
        raise AssertionError("the index lies within the ranges")

    def _other(self, ranges: tuple[tuple[int, int], ...]) -> str:
        def allowed(char: str) -> bool:
            return not any(first <= ord(char) <= last for first, last in ranges)

        letters = [char for char in _PRINTABLE if allowed(char)]
        if letters:
            return letters[self._below(len(letters))]
        return next(char for char in map(chr, range(0x20, 0xD800)) if allowed(char))

    def _fraction(self) -> float:
        if not self.block:
            self.block = self.rng.random(64).tolist()
        return self.block.pop()

    def _below(self, count: int) -> int:
        return int(self._fraction() * count)
