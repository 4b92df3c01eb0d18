"""One exact FAISS index an agent: every similarity of a query in one call (ENGINE §6).

Exact on purpose: min–max scaling needs all similarities, and at this size an approximate index buys nothing.
A similarity's bits depend on the two vectors alone, not on how many memories there are, how the index grew, or how many
threads work (our measurement; a test keeps it true). numpy's matrix product gives other bits. The index is a cache; the
vectors' truth is the run's database (DESIGN law 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALL = -2.0
"""Below any cosine, so that a range search returns every vector."""


class MemoryIndex:
    """Finds the cosine of a query to each memory. Vectors are float32[dimension], L2-normalised."""

    def __init__(self, dimension: int) -> None:
        import faiss

        self.dimension = dimension
        self._index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))

    def add(self, number: int, vector: NDArray[np.float32]) -> None:
        """Adds the vector of the next memory; ids are 1, 2, 3 … FAISS would take a duplicate silently."""
        if number != len(self) + 1:
            raise ValueError(f"vector {number} cannot follow {len(self)}")
        self._check(vector)
        self._index.add_with_ids(np.ascontiguousarray(vector[None]), np.array([number], dtype=np.int64))

    def similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32[n]: the cosine of the query to every memory, in id order."""
        self._check(query)
        if not len(self):
            return np.zeros(0, dtype=np.float32)
        with _one_thread():
            _, distances, ids = self._index.range_search(np.ascontiguousarray(query[None]), ALL)
        ordered: NDArray[np.float32] = distances[np.argsort(ids, kind="stable")]
        return ordered

    def _check(self, vector: NDArray[np.float32]) -> None:
        if vector.shape != (self.dimension,) or vector.dtype != np.float32:
            has = f"{vector.dtype}{list(vector.shape)}"
            raise ValueError(f"a vector {has} does not fit an index of float32[{self.dimension}]")

    def __len__(self) -> int:
        return int(self._index.ntotal)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Searches on one thread: of two, each waits for the other's core while the model is busy there.

    Our measurement, 2 cores under load: 0.6 ms instead of 24 ms at 1,000 memories, 6 instead of 24 at 5,000.
    """
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
