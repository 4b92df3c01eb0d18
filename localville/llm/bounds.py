"""The longest answer a form allows, in bytes: what a token budget is computed from.

A token may be a single byte when a model is driven off its habits, so ``longest + 1`` tokens (one ends the answer)
always suffice. Real models need about a quarter of it; the budget is a promise, not a cost, since an answer that ends
earlier frees the rest. A form without a longest answer is refused (DESIGN law 4).
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel

from localville.errors import GrammarError
from localville.llm.engine import Grammar
from localville.llm.gbnf import ROOT, Alt, Chars, Literal, Node, Ref, Repeat, Seq, parse

_BYTES_PER_CHARACTER = 6
"""A character of a JSON string at its longest: ``\\u001f``; UTF-8 itself needs at most 4."""


def budget(answer: Grammar | type[BaseModel]) -> int:
    """The ``max_tokens`` that suffices for every answer, whatever the tokenizer and the model."""
    return (longest_bytes(answer) if isinstance(answer, Grammar) else longest_json(answer)) + 1


@lru_cache(maxsize=512)
def longest_bytes(grammar: Grammar) -> int:
    """The UTF-8 length of the longest text that the grammar allows; exact."""
    longest: dict[str, int] = {}
    for name, node in parse(grammar).items():
        longest[name] = _longest(node, longest)
    return longest[ROOT]


def _longest(node: Node, longest: dict[str, int]) -> int:
    match node:
        case Literal(text):
            return len(text.encode())
        case Chars(ranges, negated):
            return 4 if negated else len(chr(max(last for _, last in ranges)).encode())
        case Ref(name):
            return longest[name]
        case Seq(parts):
            return sum(_longest(part, longest) for part in parts)
        case Alt(ways):
            return max(_longest(way, longest) for way in ways)
        case Repeat(part, _, high):
            return high * _longest(part, longest)


@lru_cache(maxsize=512)
def bounded_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema, with every object closed. Raises GrammarError naming a field that is not bounded."""
    longest_json(model)
    schema = model.model_json_schema()
    _close(schema)
    return schema


def _close(node: Any) -> None:
    """Forbids keys that are no fields: pydantic would ignore them, but a model may write them until its budget ends."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            node["additionalProperties"] = False
        for child in node.values():
            _close(child)
    elif isinstance(node, list):
        for child in node:
            _close(child)


@lru_cache(maxsize=512)
def longest_json(model: type[BaseModel]) -> int:
    """An upper bound of the bytes of the model as compact JSON."""
    return _Schema(model).longest()


class _Schema:
    """Walks a JSON schema as pydantic writes it; to find a field's longest text is to prove that it has one."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.name = model.__name__
        self.schema = model.model_json_schema()
        self.inside: list[str] = []

    def longest(self) -> int:
        return self._longest(self.schema, self.name)

    def _longest(self, node: dict[str, Any], field: str) -> int:
        if ref := node.get("$ref"):
            return self._referred(str(ref), field)
        for values in (node.get("enum"), [node["const"]] if "const" in node else None):
            if values:
                return max(len(json.dumps(value)) for value in values)
        for word in ("anyOf", "oneOf"):
            if word in node:
                return max(self._longest(way, field) for way in node[word])
        measure = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "boolean": self._word,
            "null": self._word,
        }.get(kind := node.get("type", "value of any kind"))
        if measure is None:
            self._refuse(field, f"is a {kind}", "Use bounded integers, strings, lists or a Literal")
        return measure(node, field)

    def _referred(self, ref: str, field: str) -> int:
        if ref in self.inside:
            self._refuse(field, "contains itself", "Use a list with max_length of a flat model")
        self.inside.append(ref)
        longest = self._longest(self.schema["$defs"][ref.rsplit("/", 1)[-1]], field)
        self.inside.pop()
        return longest

    def _object(self, node: dict[str, Any], field: str) -> int:
        if "properties" not in node or node.get("additionalProperties"):
            self._refuse(field, "has keys of the model's own choice", "Use a list of a model with a key and a value")
        return 2 + sum(
            len(json.dumps(name)) + 2 + self._longest(part, f"{field}.{name}")
            for name, part in node["properties"].items()
        )

    def _array(self, node: dict[str, Any], field: str) -> int:
        items = [self._longest(item, f"{field}[]") for item in node.get("prefixItems", ())]
        if "maxItems" not in node:
            self._refuse(field, "is a list of any length", "Give it max_length")
        rest = node["maxItems"] - len(items)
        if rest > 0:
            items += [self._longest(node.get("items", {}), f"{field}[]")] * rest
        return 2 + sum(items) + len(items)

    def _string(self, node: dict[str, Any], field: str) -> int:
        lengths = [node["maxLength"]] if "maxLength" in node else []
        if pattern := node.get("pattern"):
            if not (pattern.startswith("^") and pattern.endswith("$")):
                self._refuse(field, f"has a pattern without both ends, {pattern!r}", "Write it as ^…$")
            lengths.append(_widest(pattern))
        if not lengths or min(lengths) > _WIDEST:
            self._refuse(field, "is a text of any length", "Give it max_length")
        return 2 + _BYTES_PER_CHARACTER * int(min(lengths))

    def _integer(self, node: dict[str, Any], field: str) -> int:
        low = node.get("minimum", node.get("exclusiveMinimum"))
        high = node.get("maximum", node.get("exclusiveMaximum"))
        if low is None or high is None:
            self._refuse(field, "is a number without bounds", "Give it ge and le")
        return max(len(str(low)), len(str(high)))

    def _word(self, node: dict[str, Any], field: str) -> int:
        return len("false")

    def _refuse(self, field: str, what: str, remedy: str) -> NoReturn:
        raise GrammarError(f"{field} {what}", where=f"model '{self.name}'", next=remedy)


_WIDEST = 100_000


def _widest(pattern: str) -> int:
    """The longest match of a regular expression, in characters; more than ``_WIDEST`` if it has none."""
    try:
        compiled = re.compile(pattern)
    except re.error:
        return _WIDEST + 1
    # The parser knows the width; a public way to ask for it does not exist.
    from re import _parser  # type: ignore[attr-defined]

    return min(int(_parser.parse(compiled.pattern).getwidth()[1]), _WIDEST + 1)
