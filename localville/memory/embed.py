"""Embeddings: the seam, the sentence-transformers implementation, and a hashing one for tests and development.

Every embedder returns float32[n, dimension] with L2-normalised rows. ``Embeddings`` puts a memo in front: each distinct
text is embedded once, and the vector stored in a run's database is the one that counts from then on.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localville.errors import ModelCorrupt, ModelMissing

Vectors = NDArray[np.float32]

FEWEST_ROWS = 16
"""Token rows of a call to the model; four suffice by our measurement, the rest is margin for other kernels."""
MOST_TEXTS = 32
"""Texts of a call: what bounds the memory that attention takes."""


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

    The vector of a text must not depend on which texts happened to arrive together, nor on the number of threads
    (DESIGN law 3). By our measurement it does not, to the bit, if the texts of a call have equally many tokens (padding
    changes last bits), a call has at least four token rows (fewer take another kernel), and one thread works (with two,
    texts of 5 to 10 tokens alone differ). One thread is no slower for lines as short as memories are.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "model.safetensors").is_file():
            raise ModelMissing(
                "the embedding model is not on this machine", where=str(folder), next="Run: localville models pull"
            )
        self.name = folder.name
        try:
            self._model = _load(folder)
        except Exception as fault:  # each of the libraries beneath has exceptions of its own
            raise ModelCorrupt(
                f"the embedding model cannot be loaded ({type(fault).__name__})",
                where=str(folder),
                next="Run: localville models verify",
            ) from fault
        self.dimension = int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if texts:
            with _one_thread():
                for tokens, group in self._groups(texts):
                    # A short text may be repeated to fill the call; the vectors of the repeats are dropped.
                    calls = [texts[number] for number in group] * -(-FEWEST_ROWS // (tokens * len(group)))
                    rows[group] = self._encode(calls)[: len(group)]
        return rows

    def _groups(self, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """Yields (tokens a text, numbers of the texts), at most ``MOST_TEXTS`` of one length at a time."""
        longest = self._model.max_seq_length
        tokens = self._model.tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]
        by_length: dict[int, list[int]] = {}
        for number, row in enumerate(tokens):
            by_length.setdefault(len(row), []).append(number)
        for length, numbers in by_length.items():
            for begin in range(0, len(numbers), MOST_TEXTS):
                yield length, numbers[begin : begin + MOST_TEXTS]

    def _encode(self, texts: list[str]) -> Vectors:
        vectors: Vectors = self._model.encode(
            texts, batch_size=len(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return vectors


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


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _load(folder: Path) -> Any:
    # Set before the import: the libraries read them once. No code of ours ever asks the hub.
    os.environ.update(
        {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "TRANSFORMERS_VERBOSITY": "error",
            "TOKENIZERS_PARALLELISM": "false",
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch and transformers warn about themselves while being imported
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
