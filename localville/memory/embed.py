"""Embeddings: the seam, the sentence-transformers implementation, and a hashing one for tests and development.

Every embedder returns float32[n, dimension] with L2-normalised rows. ``Embeddings`` puts a memo in front: each distinct
text is embedded once, and the vector stored in a run's database is the one that counts from then on.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localville.errors import ModelMissing

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. The vector of a text must not depend on its companions."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32[len(texts), dimension], rows L2-normalised, in the order given."""
        ...


class HashingEmbedder:
    """Embeds by hashing words and their beginnings: texts that share words are alike. No model, no state."""

    name = "hashing"

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 1e-3  # so that a text without words has a direction too
            for word in text.casefold().split():
                for piece in (word, word[:4]):
                    digest = hashlib.blake2b(piece.encode(), digest_size=8).digest()
                    number = int.from_bytes(digest, "big")
                    row[number % self.dimension] += 1.0 if number >> 63 else -1.0
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)


class SentenceEmbedder:
    """Embeds with a sentence-transformers model from a local folder, without any network.

    Texts are put in one at a time: the padding of a batch changes the last bits of a vector (our measurement), and a
    vector must not depend on which texts happened to arrive together (DESIGN law 3).
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "model.safetensors").is_file():
            raise ModelMissing(
                "the embedding model is not on this machine", where=str(folder), next="Run: localville models pull"
            )
        self.name = folder.name
        self._model = _load(folder)
        self.dimension = int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        rows = [
            self._model.encode(
                [text], batch_size=1, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
            for text in texts
        ]
        return np.vstack(rows).astype(np.float32)


class Embeddings:
    """Remembers the vector of every text it has seen; embeds only what is new, in one call."""

    def __init__(self, inner: Embedder, known: Mapping[str, Vectors] | None = None) -> None:
        self.inner, self.name, self.dimension = inner, inner.name, inner.dimension
        self._known: dict[str, Vectors] = dict(known or {})

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.inner.embed(new), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])


def _load(folder: Path) -> Any:
    # Set before the import: the hub's client reads them once. No code of ours ever asks the hub.
    os.environ.update({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch and transformers warn about themselves while being imported
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
