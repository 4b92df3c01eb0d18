"""A small TOML writer for run.toml: nested tables, texts, numbers, truth values and lists of these."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(data: Mapping[str, Any]) -> str:
    """Writes a mapping as TOML that ``tomllib`` reads back equal. None is left out: TOML has no word for it."""
    return "\n".join(_table(data, ())).strip("\n") + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in data.items() if _is_plain(value)]
    if path and (lines or not data):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in data.items():
        if isinstance(value, Mapping):
            lines += _table(value, (*path, key))
    return lines


def _is_plain(value: Any) -> bool:
    return value is not None and not isinstance(value, Mapping)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no form for {type(value).__name__}")


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for surrogate pairs (left unescaped) and DEL (which TOML wants escaped).
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
