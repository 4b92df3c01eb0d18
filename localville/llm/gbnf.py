"""GBNF, the one hand-written grammar format, read into a tree.

We accept the bounded part of llama.cpp's GBNF: literals, character classes, groups, ``|``, ``?``, ``{m,n}`` and rules
that do not refer to themselves. ``*``, ``+``, ``{m,}`` and recursion are refused, because an answer without a longest
length has no token budget that always suffices (DESIGN law 4). What is left describes a regular language:
``bounds.py`` measures it exactly, ``constraints.py`` compiles it, ``walk.py`` writes texts of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, NoReturn, TypeAlias

from localville.errors import GrammarError
from localville.llm.engine import Grammar


@dataclass(frozen=True, slots=True)
class Literal:
    """A fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of inclusive code point ranges, or, negated, any other."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """Another rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Seq:
    """Parts one after the other; none is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several ways."""

    ways: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part ``low`` to ``high`` times."""

    part: Node
    low: int
    high: int


Node: TypeAlias = Literal | Chars | Ref | Seq | Alt | Repeat
Rules: TypeAlias = dict[str, Node]

ROOT = "root"
MAX_REPEAT = 2000
"""llama.cpp writes every repetition out and refuses more than 2000."""


def quote(text: str) -> str:
    """Writes any one-line text as a GBNF literal: accents and CJK as they are, quotes and backslashes escaped."""
    if not text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise GrammarError(f"{text!r} cannot stand in a grammar: it is empty or has control characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GrammarError(f"{text!r} cannot stand in a grammar: it is not valid Unicode") from None
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@lru_cache(maxsize=512)
def parse(grammar: Grammar) -> Rules:
    """Reads a grammar, with every rule after those it refers to. Raises GrammarError with the name, line and reason."""
    rules = _Reader(grammar).rules()
    return {name: rules[name] for name in _ordered(grammar, rules)}


def rule_of(grammar: Grammar, name: str) -> Grammar:
    """The grammar of one rule's texts."""
    return Grammar(
        f"{grammar.name}.{name}", f"root ::= {name}\n" + re.sub(r"(?m)^root(?=\s*::=)", "former-root", grammar.gbnf)
    )


def _ordered(grammar: Grammar, rules: Rules) -> list[str]:
    """Names of the rules reachable from the root, each after those it needs; refuses unknown names and circles."""
    where = f"grammar '{grammar.name}'"
    if ROOT not in rules:
        raise GrammarError("no rule is named root", where=where)
    needs = {name: set(_refs(node)) for name, node in rules.items()}
    for name, refs in needs.items():
        if unknown := refs - rules.keys():
            raise GrammarError(f"rule '{name}' refers to '{min(unknown)}', which is no rule", where=where)
    order: dict[str, None] = {}
    path: dict[str, None] = {}
    # A stack of our own, not recursion: rules built from the world form chains of some hundred.
    pending = [ROOT]
    while pending:
        name = pending[-1]
        if name in order:
            pending.pop()
        elif name in path:
            path.pop(name)
            order[pending.pop()] = None
        else:
            path[name] = None
            if circle := needs[name] & path.keys():
                raise GrammarError(
                    f"rule '{name}' comes back to '{min(circle)}', so its text has no longest length",
                    where=where,
                    next="Write the repetition out as x{0,N}",
                )
            pending.extend(sorted(needs[name] - order.keys()))
    return list(order)


def _refs(node: Node) -> Iterator[str]:
    match node:
        case Ref(name):
            yield name
        case Seq(children) | Alt(children):
            for child in children:
                yield from _refs(child)
        case Repeat(part):
            yield from _refs(part)


_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t]|\#[^\r\n]*)+)
      | (?P<newline>(?:\r\n|\r|\n))
      | (?P<name>[a-zA-Z0-9-]+)
      | (?P<define>::=)
      | (?P<literal>"(?:[^"\\\r\n]|\\.)*")
      | (?P<chars>\[(?:[^\]\\\r\n]|\\.)*\])
      | (?P<repeat>\*|\+|\?|\{[ \t]*\d+[ \t]*(?:,[ \t]*\d*[ \t]*)?\})
      | (?P<mark>[|().])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))|(.)", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "[": "[", "]": "]"}


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _Reader:
    """Reads GBNF by recursive descent. As in llama.cpp a rule ends at a line end, save after ``|`` or in brackets."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.at = 0
        self.tokens = list(self._scan())

    def rules(self) -> Rules:
        rules: Rules = {}
        self._skip_lines()
        while self._kind != "end":
            name = self._take("name")
            self._take("define")
            self._skip_lines()
            if name in rules:
                self._fail(f"rule '{name}' is defined twice")
            rules[name] = self._ways(nested=False)
            if self._kind != "end":
                self._take("newline")
            self._skip_lines()
        return rules

    def _ways(self, *, nested: bool) -> Node:
        ways = [self._sequence(nested=nested)]
        while self._text == "|":
            self.at += 1
            self._skip_lines()
            ways.append(self._sequence(nested=nested))
        return ways[0] if len(ways) == 1 else Alt(tuple(ways))

    def _sequence(self, *, nested: bool) -> Node:
        parts: list[Node] = []
        while True:
            if nested:
                self._skip_lines()
            kind, text, _ = self.tokens[self.at]
            if kind == "repeat":
                self._fail(f"'{text}' repeats nothing")
            if kind not in ("name", "literal", "chars") and text not in ("(", "."):
                break
            self.at += 1
            part = self._part(kind, text)
            if self._kind == "repeat":
                part = self._repeat(part, self._take("repeat"))
            if part != Literal(""):
                parts.append(part)
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def _part(self, kind: str, text: str) -> Node:
        if kind == "name":
            return Ref(text)
        if kind == "literal" and "\\" not in text:
            return Literal(text[1:-1])
        if kind == "literal":
            return Literal("".join(char for char, _ in self._characters(text[1:-1])))
        if kind == "chars":
            return self._chars(text[1:-1])
        if text == ".":
            return Chars((), negated=True)
        group = self._ways(nested=True)
        self._skip_lines()
        if self._text != ")":
            self._fail("a group is not closed")
        self.at += 1
        return group

    def _repeat(self, part: Node, text: str) -> Node:
        low, _, high = text.strip("{}").replace(" ", "").partition(",")
        if text == "?":
            return Repeat(part, 0, 1)
        if text in "*+" or ("," in text and not high):
            self._fail(f"'{text}' has no upper bound; write {{0,N}}")
        bounds = int(low), int(high or low)
        if bounds[0] > bounds[1] or not 0 < bounds[1] <= MAX_REPEAT:
            self._fail(f"'{text}' is no repetition from 0 to {MAX_REPEAT}")
        return Repeat(part, *bounds)

    def _chars(self, body: str) -> Node:
        negated = body.startswith("^")
        chars = list(self._characters(body[1:] if negated else body))
        ranges: list[tuple[int, int]] = []
        while chars:
            first = last = chars.pop(0)[0]
            if len(chars) > 1 and chars[0] == ("-", False):
                last = chars[1][0]
                del chars[:2]
            if last < first:
                self._fail(f"the range {first}-{last} runs backwards")
            ranges.append((ord(first), ord(last)))
        if not ranges:
            self._fail("a character class is empty")
        return Chars(tuple(ranges), negated)

    def _characters(self, body: str) -> Iterator[tuple[str, bool]]:
        """The characters of a literal or class, and whether each was written with a backslash."""
        for two, four, eight, named, plain in _ESCAPE.findall(body):
            code = int(two or four or eight or "0", 16)
            if named and named not in _NAMED:
                self._fail(f"'\\{named}' is no escape")
            if code > 0x10FFFF:
                self._fail(f"'\\U{eight}' is no character")
            yield plain or _NAMED.get(named) or chr(code), not plain

    def _scan(self) -> Iterator[_Token]:
        text, at, self.line = self.grammar.gbnf, 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self._fail(f"cannot read {text[at : at + 20]!r}", line=self.line)
            kind = str(match.lastgroup)
            if kind != "space":
                yield _Token(kind, match[0], self.line)
            self.line += kind == "newline"
            at = match.end()
        yield _Token("end", "", self.line)

    @property
    def _kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def _text(self) -> str:
        return self.tokens[self.at].text

    def _take(self, kind: str) -> str:
        if self._kind != kind:
            self._fail(
                f"expected a {kind}, found {self._text!r}" if self._text else f"expected a {kind}, found the end"
            )
        self.at += 1
        return self.tokens[self.at - 1].text

    def _skip_lines(self) -> None:
        while self._kind == "newline":
            self.at += 1

    def _fail(self, what: str, *, line: int | None = None) -> NoReturn:
        line = line or self.tokens[self.at].line
        raise GrammarError(what, where=f"grammar '{self.grammar.name}', line {line}")
