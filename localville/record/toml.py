"""A small TOML writer for run.toml: nested tables, texts, numbers, truth values and lists of these."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(data: Mapping[str, Any]) -> str:
    """Writes a mapping as TOML that ``tomllib`` reads back equal. None is left out: TOML has no word for it.

    Raises TypeError for a value without a form in TOML, and ValueError for a text that is not Unicode.
    """
    return "\n".join(_table(data, ())).strip("\n") + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in _given(data) if not isinstance(value, Mapping)]
    inner = [(key, value) for key, value in data.items() if isinstance(value, Mapping)]
    if path and (lines or not inner):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in inner:
        lines += _table(value, (*path, key))
    return lines


def _given(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in data.items() if value is not None]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return repr(int(value))
        case float():
            return repr(float(value))  # a numpy float writes itself as np.float64(…)
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():  # inside a list
            return f"{{{', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in _given(value))}}}"
    raise TypeError(f"TOML has no form for {type(value).__name__}")


def _text(text: str) -> str:
    text.encode()  # a lone surrogate, as in a file name of broken bytes, has no form in TOML
    # JSON's escapes are TOML's, but for surrogate pairs (left unescaped) and DEL (which TOML wants escaped).
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
