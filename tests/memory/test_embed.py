"""Embedders turn texts into vectors that depend on the text alone; the memo asks for each text once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from localville.errors import ModelCorrupt, ModelMissing
from localville.memory.embed import Embeddings, HashingEmbedder, SentenceEmbedder, Vectors
from tests.contracts import check_embedder


class Counting:
    """Notes what it is asked for."""

    name, dimension = "counting", 8

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return HashingEmbedder(self.dimension).embed(texts)


class TestHashing:
    def test_contract(self):
        check_embedder(HashingEmbedder)

    def test_texts_that_share_words_are_alike(self):
        asked, near, far = HashingEmbedder().embed(["a party at the cafe", "plans a party", "Klaus reads"])
        assert asked @ near > 0.2 > abs(asked @ far)

    def test_case_does_not_matter(self):
        one, other = HashingEmbedder().embed(["Maria Reads", "maria reads"])
        assert one.tobytes() == other.tobytes()

    def test_a_text_without_words_has_a_direction_too(self):
        assert np.linalg.norm(HashingEmbedder().embed([" "])[0]) == pytest.approx(1)

    def test_the_vectors_are_the_same_in_every_process_and_version(self):
        (vector,) = HashingEmbedder(8).embed(["Isabella plans a party"])
        assert np.round(vector, 4).tolist() == PINNED


PINNED = [
    0.3538999855518341,
    0.0,
    0.0,
    0.35350000858306885,
    -0.35350000858306885,
    0.35350000858306885,
    0.0,
    -0.7070000171661377,
]


class TestMemo:
    def test_contract(self):
        check_embedder(lambda: Embeddings(HashingEmbedder()))

    def test_each_distinct_text_is_embedded_once(self):
        inner = Counting()
        memo = Embeddings(inner)
        memo.embed(["a", "b", "a"])
        memo.embed(["b", "c"])
        memo.embed(["c", "a"])
        assert inner.calls == [["a", "b"], ["c"]]

    def test_no_texts_are_no_call(self):
        inner = Counting()
        assert Embeddings(inner).embed([]).shape == (0, 8)
        assert inner.calls == []

    def test_vectors_come_in_the_order_asked_for(self):
        memo = Embeddings(Counting())
        memo.embed(["b"])
        assert memo.embed(["a", "b", "a"]).tobytes() == Counting().embed(["a", "b", "a"]).tobytes()

    def test_a_recorded_vector_counts_and_not_what_the_model_would_say_now(self):
        recorded = np.array([1, 0, 0, 0, 0, 0, 0, 0], dtype=np.float32)
        inner = Counting()
        assert Embeddings(inner, {"a": recorded}).embed(["a"])[0].tobytes() == recorded.tobytes()
        assert inner.calls == []

    def test_who_writes_into_an_answer_does_not_change_the_memo(self):
        memo = Embeddings(Counting())
        before = memo.embed(["a"]).tobytes()
        memo.embed(["a"])[:] = 0
        assert memo.embed(["a"]).tobytes() == before

    def test_it_bears_the_name_of_its_model(self):
        assert (Embeddings(Counting()).name, Embeddings(Counting()).dimension) == ("counting", 8)


class TestMissing:
    def test_an_empty_folder_says_how_to_get_the_model(self, tmp_path):
        with pytest.raises(ModelMissing, match=r"not on this machine\. Run: localville models pull"):
            SentenceEmbedder(tmp_path)


@pytest.fixture(scope="module")
def minilm(embedder_path: Path) -> SentenceEmbedder:
    return SentenceEmbedder(embedder_path)


WORDS = [
    "coffee",
    "counter",
    "house",
    "cafe",
    "party",
    "day",
    "friends",
    "town",
    "paper",
    "kitchen",
    "stove",
    "bed",
    "book",
    "park",
]


def lines(count: int, words: range, seed: int = 0) -> list[str]:
    """Distinct lines of so many words; each word here is one token, and two more begin and end a line."""
    dice = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(dice.choices(WORDS, k=dice.choice(words)))] = None
    return list(found)


@pytest.mark.model
class TestSentences:
    def test_contract(self, minilm):
        check_embedder(lambda: minilm)

    def test_likeness_is_of_meaning(self, minilm):
        asked, near, far = minilm.embed(["Maria drinks a coffee", "She has an espresso", "The car is broken"])
        assert asked @ near > asked @ far + 0.2

    @pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6, 8, 13, 14, 22, 40])
    def test_the_bits_of_a_vector_do_not_depend_on_company_of_any_size(self, minilm, words):
        texts = lines(len(WORDS) if words == 1 else 24, range(words, words + 1), seed=words)
        company = minilm.embed(texts)
        for size in (1, 2, 3, 7):
            for begin in range(0, 2 * size, size):
                some = slice(begin, begin + size)
                assert minilm.embed(texts[some]).tobytes() == company[some].tobytes(), f"{size} of {words} words"

    def test_nor_on_lines_of_other_lengths(self, minilm):
        texts = ["", *lines(50, range(1, 30))]
        company = minilm.embed(texts)
        for number in range(0, len(texts), 5):
            assert minilm.embed([texts[number]])[0].tobytes() == company[number].tobytes()

    def test_nor_on_the_number_of_threads(self, minilm):
        import torch

        texts = lines(8, range(1, 12))
        before, vectors = torch.get_num_threads(), minilm.embed(texts).tobytes()
        try:
            for threads in (1, 2, 3):
                torch.set_num_threads(threads)
                assert minilm.embed(texts).tobytes() == vectors
                assert torch.get_num_threads() == threads, "the setting of others is left as it was"
        finally:
            torch.set_num_threads(before)

    def test_many_short_lines_are_split_into_calls_without_a_lone_rest(self, minilm):
        texts = WORDS * 4
        vectors = minilm.embed(texts)
        for number, text in enumerate(texts):
            assert vectors[number].tobytes() == vectors[WORDS.index(text)].tobytes()

    def test_loading_says_nothing(self, embedder_path):
        code = f"from localville.memory.embed import *; SentenceEmbedder(Path({str(embedder_path)!r})).embed(['a'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("", "")

    def test_a_damaged_model_is_told(self, embedder_path, tmp_path):
        for file in embedder_path.rglob("*"):
            if file.is_file() and file.stat().st_size < 10_000_000:
                copy = tmp_path / file.relative_to(embedder_path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
        (tmp_path / "model.safetensors").write_bytes(b"cut off")
        with pytest.raises(ModelCorrupt, match="Run: localville models verify"):
            SentenceEmbedder(tmp_path)
