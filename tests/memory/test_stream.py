"""The memory stream is append-only, numbers its memories from 1, and knows what is new for the record."""

from __future__ import annotations

import numpy as np
import pytest

from localville.memory.stream import Memory, MemoryKind, MemoryStream
from tests.memory.streams import START

SEEN, THOUGHT, PLANNED = MemoryKind.OBSERVATION, MemoryKind.REFLECTION, MemoryKind.PLAN


def stream_of(*texts: str) -> MemoryStream:
    stream = MemoryStream("Ada")
    for text in texts:
        stream.append(text, SEEN, START, 3)
    return stream


class TestAppending:
    def test_ids_count_from_1(self):
        assert [memory.id for memory in stream_of("a", "b", "c")] == [1, 2, 3]

    def test_a_new_memory_was_last_accessed_when_it_was_made(self):
        memory = MemoryStream("Ada").append("Ada reads", SEEN, START, 3)
        assert memory == Memory(1, SEEN, "Ada reads", START, START, 3, ())

    def test_the_same_text_may_be_remembered_again(self):
        assert len(stream_of("a", "a")) == 2

    def test_evidence_points_at_older_memories(self):
        stream = stream_of("a", "b")
        assert stream.append("a and b", THOUGHT, START, 8, iter([1, 2])).evidence == (1, 2)

    @pytest.mark.parametrize("evidence", [[3], [0], [-1], [1, 9]], ids=str)
    def test_evidence_that_is_not_older_is_refused(self, evidence):
        stream = stream_of("a", "b")
        with pytest.raises(ValueError, match="not among the memories 1 to 2"):
            stream.append("insight", THOUGHT, START, 8, evidence)
        assert len(stream) == 2

    @pytest.mark.parametrize("rating", [0, 11, -3])
    def test_a_rating_off_the_scale_is_refused(self, rating):
        with pytest.raises(ValueError, match="1 to 10"):
            MemoryStream("Ada").append("a", SEEN, START, rating)

    @pytest.mark.parametrize("text", ["", " ", "\n\t"], ids=repr)
    def test_a_blank_text_is_refused(self, text):
        with pytest.raises(ValueError, match="words"):
            stream_of(text)


class TestReading:
    def test_a_memory_is_found_by_its_id(self):
        assert stream_of("a", "b")[2].text == "b"

    @pytest.mark.parametrize("number", [0, -1, 3])
    def test_an_id_that_is_not_there_is_an_error(self, number):
        with pytest.raises(KeyError):
            stream_of("a", "b")[number]

    def test_the_latest_come_oldest_first(self):
        assert [memory.text for memory in stream_of("a", "b", "c").latest(2)] == ["b", "c"]
        assert [memory.text for memory in stream_of("a").latest(5)] == ["a"]
        assert stream_of("a").latest(0) == []

    def test_the_latest_of_some_kinds_skip_the_others(self):
        stream = stream_of("a", "b")
        stream.append("plan", PLANNED, START, 5)
        assert [memory.text for memory in stream.latest(1, frozenset({SEEN}))] == ["b"]

    def test_the_arrays_say_what_the_memories_say_at_every_length(self):
        """Far beyond the room there is at the beginning, which doubles."""
        stream = MemoryStream("Ada")
        for number in range(300):
            stream.append(f"memory {number}", SEEN, START + number, number % 10 + 1)
            stream.touch([number // 2 + 1], START + number)
            assert stream.importances.tolist() == [memory.importance for memory in stream]
            assert stream.last_accesses.tolist() == [memory.last_access.seconds for memory in stream]

    def test_the_arrays_have_their_types_and_cannot_be_written(self):
        stream = stream_of("a")
        assert (stream.importances.dtype, stream.last_accesses.dtype) == (np.float64, np.int64)
        for view in (stream.importances, stream.last_accesses):
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 1
        stream.touch([1], START + 1)
        stream.append("b", SEEN, START, 2)

    def test_an_empty_stream_has_empty_arrays(self):
        stream = MemoryStream("Ada")
        assert (len(stream), stream.importances.shape, stream.last_accesses.shape) == (0, (0,), (0,))


class TestTouching:
    def test_only_the_time_of_last_access_changes(self):
        stream = stream_of("a", "b")
        stream.touch([2], START + 60)
        assert stream[1] == Memory(1, SEEN, "a", START, START, 3)
        assert stream[2] == Memory(2, SEEN, "b", START, START + 60, 3)

    @pytest.mark.parametrize("number", [0, -1, 3])
    def test_an_id_that_is_not_there_is_an_error(self, number):
        with pytest.raises(KeyError):
            stream_of("a", "b").touch([number], START)


class TestRestoring:
    def test_a_stream_comes_back_memory_by_memory(self):
        stream = stream_of("a", "b")
        stream.append("a and b", THOUGHT, START + 9, 8, (1, 2))
        stream.touch([1], START + 60)
        again = MemoryStream("Ada")
        for memory in stream:
            again.restore(memory)
        assert list(again) == list(stream)
        assert again.last_accesses.tolist() == stream.last_accesses.tolist()

    @pytest.mark.parametrize("number", [0, 1, 3])
    def test_a_gap_or_a_repeat_is_refused(self, number):
        with pytest.raises(ValueError, match="cannot follow 1"):
            stream_of("a").restore(Memory(number, SEEN, "b", START, START, 3))


class TestChanges:
    def test_what_is_new_is_told_once(self):
        stream = stream_of("a")
        new, touched, repeated = stream.drain_changes()
        assert ([memory.text for memory in new], touched, repeated) == (["a"], [], [])
        assert stream.drain_changes() == ([], [], [])
        stream.append("b", SEEN, START, 3)
        assert [memory.text for memory in stream.drain_changes()[0]] == ["b"]

    def test_what_is_touched_is_told_once_in_id_order(self):
        stream = stream_of("a", "b", "c")
        stream.drain_changes()
        stream.touch([3, 1, 3], START + 60)
        assert stream.drain_changes() == ([], [stream[1], stream[3]], [])
        assert stream.drain_changes() == ([], [], [])

    def test_what_is_made_again_counts_once_a_step_and_is_fresh(self):
        stream = stream_of("a", "b")
        stream.drain_changes()
        assert (stream.known(MemoryKind.OBSERVATION, "b"), stream.known(MemoryKind.OBSERVATION, "c")) == (2, None)
        for _ in range(2):
            stream.reinforce(2, START + 60)
        assert (stream[2].count, stream[2].last_access, stream.last_accesses.tolist()[1]) == (
            2,
            START + 60,
            START.seconds + 60,
        )
        assert stream.drain_changes() == ([], [], [stream[2]])
        stream.reinforce(2, START + 120)
        assert stream[2].count == 3

    def test_only_observations_are_made_again(self):
        stream = stream_of("a")
        stream.append("a and b", THOUGHT, START, 8, (1,))
        assert stream.known(MemoryKind.OBSERVATION, "a and b") is None

    def test_a_memory_retrieved_in_the_step_that_made_it_is_new_and_touched(self):
        stream = stream_of("a")
        stream.touch([1], START)
        assert stream.drain_changes() == ([stream[1]], [stream[1]], [])
