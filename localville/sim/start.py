"""What a run needs before its first step: everything that determines it, written down for run.toml."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from localville import __version__

PACKAGES = ("llama-cpp-python", "llguidance", "sentence-transformers", "torch", "faiss-cpu", "numpy", "pydantic")
"""Packages whose version can change what a run computes."""


def manifest(
    engine: dict[str, Any], embedder: dict[str, Any], map_file: Path, cast_files: Iterable[Path]
) -> dict[str, Any]:
    """What produced a run, for run.toml: versions, the model with its sha256, the map and the cast."""
    return {
        "localville": __version__,
        "map": {"file": map_file.name, "sha256": file_sha256(map_file)},
        "cast": {path.name: file_sha256(path) for path in cast_files},
        "embedder": embedder,
        "engine": engine,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def file_sha256(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
