"""The desk: what questions need of the engine, and the scores it remembers."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from localville.errors import EngineError
from localville.llm.chat import Block, Template
from localville.llm.constraints import Constraints
from localville.llm.slots import Prefix, Segment
from localville.llm.strands import Stats
from localville.llm.weights import Weights

_MEMO = 4096
"""Constant scores remembered; a few a persona are needed."""

Key: TypeAlias = tuple[object, ...]
Scores: TypeAlias = NDArray[np.float64]


class Memo:
    """Remembers scores by what they are the scores of; the least recently used goes first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Scores] = OrderedDict()

    def get(self, key: Key) -> Scores | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def put(self, key: Key, scores: Scores) -> None:
        self._known[key] = scores
        if len(self._known) > _MEMO:
            self._known.popitem(last=False)


@dataclass(frozen=True)
class Desk:
    """What questions need of the engine."""

    weights: Weights
    template: Template
    constraints: Constraints
    stats: Stats
    memo: Memo = field(default_factory=Memo)

    def prefix(self, rendered: list[Block]) -> Prefix:
        """Tokenises blocks, each piece by itself; raises EngineError for a prompt without any token."""
        segments = []
        opening = self.weights.opening
        for block in rendered:
            pieces = (self.weights.tokens(piece.text, special=piece.marker) for piece in block.pieces)
            tokens = opening + tuple(token for piece in pieces for token in piece)
            if tokens:
                segments.append(Segment(block.name, tokens))
                opening = ()
        if not segments:
            raise EngineError("the prompt is empty", next="Give it at least one character")
        return Prefix(tuple(segments))
