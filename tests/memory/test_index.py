"""One exact index an agent: the cosines are those of plain arithmetic, and their bits depend on nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from localville.memory.index import MemoryIndex

DIMENSION = 384


def unit_vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    """float32[count, 384], rows L2-normalised."""
    rows = np.random.Generator(np.random.Philox(key=seed)).standard_normal((count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def index_of(vectors: NDArray[np.float32]) -> MemoryIndex:
    index = MemoryIndex(vectors.shape[1])
    for number, vector in enumerate(vectors, 1):
        index.add(number, vector)
    return index


VECTORS = unit_vectors(1100)
QUERIES = unit_vectors(8, seed=1)


@pytest.fixture(scope="module")
def full() -> list[bytes]:
    """The cosines of each query to all vectors, by an index that grew one by one."""
    index = index_of(VECTORS)
    return [index.similarities(query).tobytes() for query in QUERIES]


@pytest.fixture
def threads() -> Iterator[None]:
    before = faiss.omp_get_max_threads()
    yield
    faiss.omp_set_num_threads(before)


class TestSimilarities:
    def test_they_are_the_dot_products_in_id_order(self):
        index = index_of(VECTORS)
        for query in QUERIES:
            exact = VECTORS.astype(np.float64) @ query.astype(np.float64)
            found = index.similarities(query)
            assert found.dtype == np.float32
            assert np.abs(found - exact).max() < 1e-6
            # Except for neighbours closer than float32 can tell, both put them in one order.
            order = np.argsort(-found, kind="stable")
            assert (np.diff(exact[order]) < 1e-6).all()

    def test_every_memory_has_one_even_the_opposite(self):
        index = index_of(np.stack([VECTORS[0], -VECTORS[0]]))
        assert index.similarities(VECTORS[0]) == pytest.approx([1, -1], abs=1e-6)

    def test_equal_vectors_have_equal_ones(self):
        index = index_of(np.stack([VECTORS[0], VECTORS[1], VECTORS[0]]))
        first, _, third = index.similarities(QUERIES[0])
        assert first == third

    def test_an_empty_index_has_none(self):
        assert MemoryIndex(DIMENSION).similarities(QUERIES[0]).shape == (0,)


class TestBits:
    @pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 17, 33, 100, 1023, 1024, 1025])
    def test_they_do_not_depend_on_how_many_memories_there_are(self, full, count):
        index = index_of(VECTORS[:count])
        for query, all_of_them in zip(QUERIES, full, strict=True):
            assert index.similarities(query).tobytes() == all_of_them[: 4 * count]

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_they_do_not_depend_on_the_number_of_threads(self, full, threads, count):
        faiss.omp_set_num_threads(count)
        index = index_of(VECTORS)
        assert [index.similarities(query).tobytes() for query in QUERIES] == full

    def test_they_do_not_depend_on_searches_before(self, full):
        index = MemoryIndex(DIMENSION)
        for number, vector in enumerate(VECTORS[:200], 1):
            index.add(number, vector)
            index.similarities(QUERIES[number % len(QUERIES)])
        assert index.similarities(QUERIES[0]).tobytes() == full[0][: 4 * 200]

    def test_a_vector_need_not_lie_in_one_piece(self, full):
        spread = np.asfortranarray(VECTORS[:50])
        index = index_of(spread)
        assert index.similarities(np.asfortranarray(QUERIES)[0]).tobytes() == full[0][: 4 * 50]


class TestRefusals:
    @pytest.mark.parametrize("number", [0, 1, 3])
    def test_an_id_that_is_not_the_next_is_refused(self, number):
        index = index_of(VECTORS[:1])
        with pytest.raises(ValueError, match="cannot follow 1"):
            index.add(number, VECTORS[1])
        assert len(index) == 1

    @pytest.mark.parametrize(
        "vector", [VECTORS[0, :-1], VECTORS[:1], VECTORS[0].astype(np.float64)], ids=lambda v: v.shape
    )
    def test_a_vector_that_does_not_fit_is_refused(self, vector):
        index = index_of(VECTORS[:1])
        with pytest.raises(ValueError, match=r"does not fit an index of float32\[384\]"):
            index.add(2, vector)
        with pytest.raises(ValueError, match="does not fit"):
            index.similarities(vector)
        assert len(index) == 1
