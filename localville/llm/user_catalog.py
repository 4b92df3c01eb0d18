"""The user's own catalog, CACHE/catalog.toml: models added by path or URL, in the form of `models/catalog.toml`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from localville.config import read_toml
from localville.errors import ConfigError, UnknownModel
from localville.llm import model_files
from localville.llm.catalog import CatalogFile, Entry, Preparation, load_catalog, user_catalog_path
from localville.llm.part import Report, disk_faults, silent

_HEAD = """\
# Models of your own, written by `localville models add`. You may edit it: ways, chat, note, licence and so on
# are explained at the head of the catalog that ships with localville (models/catalog.toml).
"""


def add(
    target: str,
    *,
    name: str | None = None,
    sha256: str | None = None,
    prepare: Preparation = "none",
    report: Report = silent,
) -> Entry:
    """Adds a GGUF by path (size and sha256 are recorded now) or by URL (without sha256: at its first fetch).

    An own model of the same name is replaced; a name of the shipped catalog is refused.
    Raises UnknownModel for a path without a file, ModelCorrupt for a file that is no GGUF, ConfigError for a bad name,
    URL or sha256.
    """
    values: dict[str, Any] = {"prepare": prepare}
    if "://" in target:
        values |= {"url": target, "sha256": sha256.lower() if sha256 else None}
        stem = Path(unquote(urlsplit(target).path)).name
    else:
        path = Path(target).expanduser().absolute()
        if not path.is_file():
            raise UnknownModel("there is no such file", where=str(path), next="Check the path")
        model_files.require_gguf(path)
        found = model_files.hash_file(path, report)
        if sha256 and sha256.lower() != found:
            hint = "Fetch it again, or leave out --sha256"
            raise ConfigError(f"its sha256 is {found}, not the one you gave", where=str(path), next=hint)
        values |= {"path": str(path), "bytes": path.stat().st_size, "sha256": found}
        stem = path.name
    values["name"] = name or _name_from(stem)
    try:
        entry = Entry.model_validate(values)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "source"
        message = first["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{key} '{values.get(key, target)}': {message}", next="See: localville models add --help"
        ) from None
    own = _own_entries()
    taken = {known.name.casefold() for known in load_catalog().entries} - {known.name.casefold() for known in own}
    if entry.name.casefold() in taken:
        hint = f"Choose another: localville models add {target} --name my-{entry.name}"
        raise ConfigError(f"the catalog has a model '{entry.name}' already", next=hint)
    _write([*(known for known in own if known.name.casefold() != entry.name.casefold()), entry])
    return entry


def pin(entry: Entry, size: int, sha256: str) -> None:
    """Records size and sha256 of a URL's first fetch: from now on any other bytes are refused."""
    pinned = entry.model_copy(update={"bytes": size, "sha256": sha256})
    _write([pinned if known.name == entry.name else known for known in _own_entries()])


def own_entry(name: str) -> Entry:
    """The user's own model of exactly this name, read anew."""
    return next(entry for entry in _own_entries() if entry.name == name)


def _name_from(file_name: str) -> str:
    """A model's name made from a file's: `My Model (v2).GGUF` → `my-model-v2`."""
    stem = file_name[:-5] if file_name.casefold().endswith(".gguf") else file_name
    return re.sub(r"[^a-z0-9._]+", "-", stem.casefold()).strip("-._")[:80]


def _own_entries() -> list[Entry]:
    path = user_catalog_path()
    return list(read_toml(path, CatalogFile).model) if path.is_file() else []


def _write(entries: list[Entry]) -> None:
    path = user_catalog_path()
    text = _HEAD + "".join(_as_toml(entry) for entry in entries)
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".toml.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)


def _as_toml(entry: Entry) -> str:
    values = entry.model_dump(exclude_defaults=True, exclude_none=True)
    return "\n[[model]]\n" + "".join(f"{key} = {_toml_value(value)}\n" for key, value in values.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_value(str(key))} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    if isinstance(value, str):
        # JSON's escapes are TOML's; only DEL is left bare by JSON and refused by TOML.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
