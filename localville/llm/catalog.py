"""The models known by name: `models/catalog.toml`, the user's own catalog, and how a name becomes a ready file.

    load_catalog()            both catalogs in one; a name in the user's own wins over the shipped one
    Catalog.find(name)        an entry, by its name or any unambiguous beginning of it
    find_model(name or path)  a GGUF that can be loaded now, with its sha256 and the ways it is best asked
    embedder_path()           the sentence-transformers folder in the cache

`fetch.py` brings the bytes, `prepare.py` requantizes them, `model_files.py` knows what lies in the cache.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from localville.assets import cache_dir, catalog_path
from localville.config import read_toml
from localville.errors import ModelCorrupt, ModelMissing, UnknownModel

Way: TypeAlias = Literal["instruct", "continue", "channel"]
Preparation: TypeAlias = Literal["none", "q8_0", "q4_0"]

_RESERVED_ENDINGS = (".q8_0", ".q4_0", ".part", ".gguf", ".json", ".lock")
"""A name becomes file names in the cache; with these endings it could meet a file of another model."""


def _model_name(name: str) -> str:
    if name.casefold().endswith(_RESERVED_ENDINGS):
        raise ValueError(f"a model's name may not end in {', '.join(_RESERVED_ENDINGS)}")
    return name


def _inner_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or re.search(r"[\\:\x00-\x1f]", path):
        raise ValueError("a path inside a wheel or folder is relative and stays inside it")
    return path


def _safe_url(url: str) -> str:
    """Only TLS; plain HTTP is for a server on this machine. Passwords do not belong into a catalog."""
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not (parts.scheme == "https" or local) or not parts.hostname:
        raise ValueError("a model is fetched over https:// only (http:// from this machine)")
    if parts.username or parts.password:
        raise ValueError("a URL with a password in it is not stored")
    return url


def _absolute(path: str) -> str:
    if not Path(path).is_absolute():
        raise ValueError("the path of a model of your own is absolute")
    return path


ModelName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80), AfterValidator(_model_name)
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
InnerPath = Annotated[str, AfterValidator(_inner_path)]
Url = Annotated[str, AfterValidator(_safe_url)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WheelMember(_Frozen):
    """Names one file (or, ending in a slash, one folder) inside a wheel of the package index."""

    # The pattern also keeps anything that pip would read as an option out of its command line.
    wheel: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!_-]*$")]
    member: InnerPath


class FolderFile(_Frozen):
    """One file of a model that is a folder; path relative to that folder."""

    path: InnerPath
    bytes: int = Field(ge=0)
    sha256: Sha256


class Hub(_Frozen):
    """Names a file in a public model repository at a fixed revision."""

    repository: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")]
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    file: InnerPath

    @property
    def url(self) -> str:
        return f"https://huggingface.co/{self.repository}/resolve/{self.revision}/{quote(self.file)}"


class Entry(_Frozen):
    """Describes one model; the head of models/catalog.toml explains each field."""

    name: ModelName
    title: str = ""
    origin: str = ""
    licence: str = "unknown"
    licence_url: str = ""
    conditions: bool = False
    conditions_note: str = ""
    bytes: int | None = Field(default=None, ge=1)
    sha256: Sha256 | None = None
    tested: bool = False
    chat: Literal["chatml", "llama3", "none", "file"] = "file"
    prefix_reuse: bool = True
    prepare: Preparation = "none"
    prepare_reason: str = ""
    prepared_sha256: dict[Preparation, Sha256] = Field(default_factory=dict)
    ways: dict[str, Way] = Field(default_factory=dict)
    note: str = ""
    wheels: tuple[WheelMember, ...] = ()
    files: tuple[FolderFile, ...] = ()
    hub: Hub | None = None
    url: Url | None = None
    path: Annotated[str, AfterValidator(_absolute)] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(map(bool, (self.wheels, self.hub, self.url, self.path))) != 1:
            raise ValueError("a model has exactly one source: wheels, hub, url or path")
        if self.files and len(self.wheels) != 1:
            raise ValueError("a model that is a folder comes from one wheel")
        if not self.files and not self.url and (self.bytes is None or self.sha256 is None):
            raise ValueError("a model needs bytes and sha256 (only a url may be pinned at its first fetch)")
        if self.conditions and not self.licence_url:
            raise ValueError("a licence with conditions needs a licence_url")
        return self

    @property
    def is_embedder(self) -> bool:
        return bool(self.files)

    @property
    def size_bytes(self) -> int | None:
        """Bytes of the original: of the file, or of all files of a folder; None for a URL never fetched."""
        return sum(file.bytes for file in self.files) if self.files else self.bytes

    @property
    def digest(self) -> str | None:
        """The identity of the original: the file's sha256, or the sha256 of the sorted list of a folder's files."""
        if not self.files:
            return self.sha256
        lines = "".join(f"{file.sha256}  {file.path}\n" for file in sorted(self.files, key=lambda file: file.path))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def source_url(self) -> str | None:
        return self.hub.url if self.hub else self.url


class Defaults(_Frozen):
    """What is taken when the user names nothing."""

    model: ModelName
    embedder: ModelName
    ways: dict[str, Way]


class CatalogFile(_Frozen):
    """The contents of one catalog file; only the shipped one has defaults."""

    default: Defaults | None = None
    model: tuple[Entry, ...] = ()

    @model_validator(mode="after")
    def _unique_names(self) -> Self:
        names = [entry.name.casefold() for entry in self.model]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two models are named '{twice[0]}'")
        return self


@dataclass(frozen=True)
class Catalog:
    """All known models, the shipped ones first."""

    entries: tuple[Entry, ...]
    default: Defaults

    def find(self, name: str) -> Entry:
        """Returns the model with this name or this beginning of one. Raises UnknownModel, naming what is near."""
        wanted = name.casefold()
        hits = [entry for entry in self.entries if entry.name.casefold() == wanted]
        hits = hits or [entry for entry in self.entries if wanted and entry.name.casefold().startswith(wanted)]
        if len(hits) == 1:
            return hits[0]
        if hits:
            names = " or ".join(entry.name for entry in hits)
            raise UnknownModel(f"'{name}' is the beginning of several models", next=f"Say which: {names}")
        by_name = {entry.name.casefold(): entry.name for entry in self.entries}
        # A short name is compared with the beginnings of names, a long one with whole names.
        short = {key[: len(wanted)]: value for key, value in by_name.items()}
        near = (get_close_matches(wanted, by_name, 1) or get_close_matches(wanted, short, 1)) if wanted else []
        hint = f"Did you mean '{by_name.get(near[0]) or short[near[0]]}'? " if near else ""
        raise UnknownModel(f"there is no model '{name}'", next=f"{hint}See: localville models list")

    def ways_of(self, entry: Entry | None) -> dict[str, Way]:
        """How to ask by purpose: the model's own ways over the default ones."""
        return {**self.default.ways, **(entry.ways if entry else {})}


@dataclass(frozen=True)
class ModelFile:
    """A GGUF that is ready to load. ``sha256`` is that of this very file, prepared or not; it goes into run.toml.

    ``entry`` is the catalog's, also for a path whose bytes the catalog knows; None for any other file.
    """

    name: str
    path: Path
    sha256: str
    entry: Entry | None
    ways: Mapping[str, Way]


def user_catalog_path() -> Path:
    """Where the user's own models are listed."""
    return cache_dir() / "catalog.toml"


def load_catalog() -> Catalog:
    """Reads both catalogs. Raises ConfigError, naming file and key, when one cannot be used."""
    shipped = read_toml(catalog_path(), CatalogFile)
    if shipped.default is None:
        raise RuntimeError(f"{catalog_path()} has no [default]")
    own = read_toml(user_catalog_path(), CatalogFile).model if user_catalog_path().is_file() else ()
    taken = {entry.name.casefold() for entry in own}
    kept = tuple(entry for entry in shipped.model if entry.name.casefold() not in taken)
    return Catalog((*kept, *own), shipped.default)


def looks_like_path(name: str) -> bool:
    """Whether a model is named by its file rather than by a name."""
    return "/" in name or "\\" in name or name.casefold().endswith(".gguf")


def find_model(name_or_path: str | Path) -> ModelFile:
    """Finds a language model by name, by the beginning of a name, or by the path of any GGUF.

    Raises UnknownModel (with the nearest name), ModelMissing (with the command that fetches it) or ModelCorrupt. A file
    whose size and time are as `models pull` left them keeps its recorded sha256; any other is hashed, about 1 s a GB.
    """
    catalog = load_catalog()
    name = str(name_or_path)
    if isinstance(name_or_path, Path) or looks_like_path(name):
        return _from_path(Path(name).expanduser(), catalog)
    entry = catalog.find(name)
    if entry.is_embedder:
        raise UnknownModel(
            f"'{entry.name}' is an embedder, no language model", next=f"Take for example: {catalog.default.model}"
        )
    from localville.llm import model_files

    return ModelFile(
        entry.name, model_files.ready_path(entry), model_files.ready_sha256(entry), entry, catalog.ways_of(entry)
    )


def _from_path(path: Path, catalog: Catalog) -> ModelFile:
    from localville.llm import model_files

    if not path.is_file():
        raise UnknownModel("there is no such file", where=str(path), next="Check the path, or: localville models list")
    model_files.require_gguf(path)
    sha256 = model_files.hash_file(path)
    # The same bytes are asked in the same ways, by name or by path: a run depends on the file, not on how it was named.
    known = (entry for entry in catalog.entries if sha256 in (entry.sha256, *entry.prepared_sha256.values()))
    entry = next(known, None)
    return ModelFile(path.stem, path.resolve(), sha256, entry, catalog.ways_of(entry))


def embedder_path() -> Path:
    """The folder of the default embedder, for SentenceTransformer(path). Raises ModelMissing or ModelCorrupt.

    Sizes are checked here, hashes by `localville models verify`.
    """
    from localville.llm import model_files

    catalog = load_catalog()
    entry = catalog.find(catalog.default.embedder)
    folder = model_files.ready_path(entry)
    pull = f"Run: localville models pull {entry.name}"
    if not folder.is_dir():
        raise ModelMissing(f"the embedder '{entry.name}' is not on this machine", next=pull)
    for file in entry.files:
        inner = folder / file.path
        if not inner.is_file() or inner.stat().st_size != file.bytes:
            raise ModelCorrupt("the file is missing or has another size", where=str(inner), next=pull)
    return folder
