"""The contract holds for every engine that ships, and notices engines that break it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from localville.llm.engine import Answer, Ask, Choose, Engine, Ticket
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import Embeddings, HashingEmbedder
from tests.contracts import check_embedder, check_engine


def test_scripted_engine() -> None:
    check_engine(ScriptedEngine)


@pytest.mark.model
def test_llamacpp_engine(small_model_path: Path) -> None:
    from localville.llm.llamacpp import LlamaCppEngine

    check_engine(lambda: LlamaCppEngine(small_model_path, slots=4))


@pytest.mark.model
def test_outlines_engine(small_model_path: Path) -> None:
    from localville.llm.outlines_engine import OutlinesEngine

    check_engine(lambda: OutlinesEngine(small_model_path, n_context=1024), scored=False)


class Broken(ScriptedEngine):
    """Breaks the seam in one way, named."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def submit(self, ask: Ask, seed: int) -> Ticket:
        ticket = super().submit(ask, 0 if self.way == "deaf to seeds" else seed)
        return ticket * 2 if self.way == "skips tickets" else ticket

    def poll(self) -> list[tuple[Ticket, Answer]]:
        answers = super().poll()
        if self.way == "skips tickets":
            return [(ticket * 2, answer) for ticket, answer in answers]
        return answers[::-1] if self.way == "out of order" else answers

    def _answer(self, ask: Ask, seed: int) -> Answer:
        company = len(self._pending) + len(self.asks) if self.way == "minds its history" else 0
        answer = super()._answer(ask, seed + company)
        if self.way == "no probabilities":
            return Answer(answer.value)
        if self.way == "off the list" and isinstance(ask.form, Choose):
            return Answer("something else", answer.probabilities)
        return answer


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("deaf to seeds", "seeds all gave"),
        ("skips tickets", "grow by one"),
        ("out of order", "ticket order"),
        ("minds its history", "alone and in another order"),
        ("no probabilities", "one probability an option"),
        ("off the list", "is none of"),
    ],
)
def test_notices_broken_engines(way: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_engine(lambda: Broken(way))


class Letters:
    """An embedder that counts bytes, with a fault of choice."""

    name, dimension = "letters", 256

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows: Any = np.zeros((len(texts), 256), np.float64 if self.fault == "float64" else np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place, byte in enumerate(text.encode()):
                row[byte] += 1 / (1 + place) + (len(texts) if self.fault == "company" else 0)
        return rows if self.fault == "length" else rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_embedder_contract() -> None:
    check_embedder(Letters)
    check_embedder(HashingEmbedder)
    check_embedder(lambda: Embeddings(HashingEmbedder(64)))
    check_embedder(lambda: Embeddings(Letters("company")))  # the memo makes up for it
    for fault in ("float64", "company", "length"):
        with pytest.raises(AssertionError):
            check_embedder(lambda fault=fault: Letters(fault))  # type: ignore[misc]


def test_a_scripted_engine_is_an_engine() -> None:
    engine: Engine = ScriptedEngine()
    engine.close()
