"""Retrieval is the paper's formula (§4.1), to the last bit and in the same order."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from localville.clock import DAY, HOUR, SimTime
from localville.config import Profile
from localville.memory.index import MemoryIndex
from localville.memory.retrieval import retrieve
from localville.memory.stream import MemoryKind, MemoryStream
from tests.memory.streams import START, exact_vector, random_cosines, random_stream

PAPER = Profile()
WEIGHTED = Profile(weight_recency=0.5, weight_importance=2.0, weight_relevance=3.0, recency_decay_per_hour=0.9)
EAST, NORTH = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
STREAMS = 10_000


def slow_twin(
    accesses: list[int], ratings: list[int], cosines: list[float], now: int, profile: Profile
) -> list[tuple[float, int]]:
    """The formula in plain Python: (total, id), best first."""

    def scaled(values: list[float]) -> list[float]:
        low, high = min(values), max(values)
        return [0.0 if high == low else (value - low) / (high - low) for value in values]

    recency = scaled([profile.recency_decay_per_hour ** ((now - at) / 3600) for at in accesses])
    importance = scaled([float(rating) for rating in ratings])
    relevance = scaled(cosines)
    totals = [
        profile.weight_recency * r + profile.weight_importance * i + profile.weight_relevance * c
        for r, i, c in zip(recency, importance, relevance, strict=True)
    ]
    return sorted(((total, number) for number, total in enumerate(totals, 1)), key=lambda pair: (-pair[0], -pair[1]))


class Given:
    """Stands for an index whose cosines are known."""

    def __init__(self, cosines: list[float]) -> None:
        self.cosines = np.array(cosines, dtype=np.float32)

    def similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        return self.cosines

    def __len__(self) -> int:
        return len(self.cosines)


def check_against_twin(
    stream: MemoryStream, index: Given | MemoryIndex, query: NDArray[np.float32], cosines: list[float], later: int
) -> bool:
    """Checks one retrieval of everything against the formula; says whether there were ties."""
    profile = WEIGHTED if later % 4 == 0 else PAPER
    now = max(stream.last_accesses.tolist()) + later
    accesses, ratings = [memory.last_access.seconds for memory in stream], [memory.importance for memory in stream]
    expected = slow_twin(accesses, ratings, cosines, now, profile)
    found = retrieve(stream, index, query, SimTime(now), len(stream), profile)
    assert [scored.memory.id for scored in found] == [number for _, number in expected]
    assert all(abs(scored.total - total) < 1e-12 for scored, (total, _) in zip(found, expected, strict=True))
    few = 1 + later % len(stream)
    assert retrieve(stream, index, query, SimTime(now), few, profile) == found[:few]
    return len({total for total, _ in expected}) < len(expected)


def test_ten_thousand_random_streams_come_in_the_order_of_the_formula():
    dice, ties = random.Random(1), 0
    for _ in range(STREAMS):
        stream = random_stream(dice)
        cosines = random_cosines(dice, len(stream))
        ties += check_against_twin(stream, Given(cosines), EAST, cosines, dice.randrange(50 * HOUR))
    assert STREAMS // 20 < ties < STREAMS // 2, f"{ties} streams with ties say little about one case or the other"


def test_so_they_do_with_the_true_index():
    dice = random.Random(2)
    for _ in range(100):
        stream, index, cosines, query = random_stream(dice), MemoryIndex(16), [], exact_vector(dice)
        for memory in stream:
            vector = exact_vector(dice)
            index.add(memory.id, vector)
            cosines.append(sum(a * b for a, b in zip(query.tolist(), vector.tolist(), strict=True)))
        check_against_twin(stream, index, query, cosines, dice.randrange(50 * HOUR))


def remembered(*ratings: int) -> tuple[MemoryStream, MemoryIndex]:
    """One memory a rating, all alike but for it."""
    stream, index = MemoryStream("Ada"), MemoryIndex(2)
    for rating in ratings:
        memory = stream.append("Ada reads", MemoryKind.OBSERVATION, START, rating)
        index.add(memory.id, EAST)
    return stream, index


def ids(stream: MemoryStream, index: MemoryIndex, now: SimTime = START, k: int = 10) -> list[int]:
    return [scored.memory.id for scored in retrieve(stream, index, EAST, now, k, PAPER)]


class TestParts:
    def test_each_part_is_scaled_to_0_to_1_over_all_memories_not_over_those_returned(self):
        (best,) = retrieve(*remembered(2, 4, 10), EAST, START, 1, PAPER)
        assert (best.memory.id, best.importance) == (3, 1.0)
        scores = {
            scored.memory.id: scored.importance for scored in retrieve(*remembered(2, 4, 10), EAST, START, 3, PAPER)
        }
        assert scores == {1: 0.0, 2: 0.25, 3: 1.0}

    def test_where_all_are_alike_a_part_says_nothing(self):
        for scored in retrieve(*remembered(5, 5), EAST, START, 2, PAPER):
            assert scored[1:] == (0.0, 0.0, 0.0, 0.0)

    def test_what_was_retrieved_lately_is_recent(self):
        stream, index = remembered(5, 5, 5)
        stream.touch([2], START + HOUR)
        assert ids(stream, index, START + 2 * HOUR) == [2, 3, 1]

    def test_what_is_like_the_query_is_relevant(self):
        stream, index = remembered(5, 5)
        index.add(stream.append("Ada sleeps", MemoryKind.OBSERVATION, START, 5).id, NORTH)
        assert ids(stream, index) == [2, 1, 3]

    def test_recency_decays_by_half_a_percent_an_hour(self):
        stream, index = remembered(5, 5, 5)
        stream.touch([2], START + 50 * HOUR)
        stream.touch([3], START + 100 * HOUR)
        scores = {
            scored.memory.id: scored.recency for scored in retrieve(stream, index, EAST, START + 100 * HOUR, 3, PAPER)
        }
        assert scores[2] == pytest.approx((0.995**50 - 0.995**100) / (1 - 0.995**100))

    def test_a_thousand_years_are_no_trouble(self):
        stream, index = remembered(5, 6)
        assert ids(stream, index, START + 365_000 * DAY) == [2, 1]


class TestOrder:
    def test_of_equal_memories_the_newer_come_first(self):
        assert ids(*remembered(*[5] * 9), k=4) == [9, 8, 7, 6]

    def test_no_more_are_returned_than_there_are(self):
        assert ids(*remembered(1, 2), k=100) == [2, 1]

    @pytest.mark.parametrize("k", [0, -1])
    def test_none_are_returned_if_none_are_wanted(self, k):
        assert ids(*remembered(1, 2), k=k) == []

    def test_who_remembers_nothing_recalls_nothing(self):
        assert ids(*remembered()) == []


class TestEffects:
    def test_retrieval_changes_nothing(self):
        stream, index = remembered(1, 2, 3)
        stream.drain_changes()
        before = list(stream)
        ids(stream, index, START + HOUR)
        assert list(stream) == before
        assert stream.drain_changes() == ([], [], [])

    def test_an_index_of_another_length_is_refused(self):
        stream, index = remembered(1, 2)
        stream.append("not indexed", MemoryKind.OBSERVATION, START, 1)
        with pytest.raises(ValueError, match="2 vectors for 3 memories"):
            ids(stream, index)
