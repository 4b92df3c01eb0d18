"""Where the readable sources lie: maps, personas, grammars and the model catalog.

In a checkout they are the top-level folders; in an installed wheel they travel under ``localville/assets/``. Which of
the two it is, is decided once, by looking for the wheel's folder. Weights and caches live in the user's own folders.
"""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).parent


def asset_root() -> Path:
    """The folder that holds `maps/`, `personas/`, `grammars/` and `models/catalog.toml`."""
    packed = PACKAGE / "assets"
    return packed if packed.is_dir() else PACKAGE.parent


def maps_dir() -> Path:
    """The folder of the maps that ship."""
    return asset_root() / "maps"


def personas_dir() -> Path:
    """The folder of the scenarios and casts that ship."""
    return asset_root() / "personas"


def grammars_dir() -> Path:
    """The folder of the hand-written GBNF files."""
    return asset_root() / "grammars"


def catalog_path() -> Path:
    """The catalog of known models."""
    return asset_root() / "models" / "catalog.toml"


def cache_dir() -> Path:
    """The user's folder for weights: $LOCALVILLE_HOME, else $XDG_CACHE_HOME/localville, else ~/.cache/localville."""
    if home := os.environ.get("LOCALVILLE_HOME"):
        return Path(home).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "localville"
