"""Retrieval, exactly as the paper has it (§4.1).

    score = α_recency · recency + α_importance · importance + α_relevance · relevance

Each part is min–max scaled to [0, 1] over *all* of the agent's memories; recency is 0.995 to the power of the game
hours since the memory was last retrieved, relevance the cosine of embeddings. Where all memories are alike in a part
the paper is silent; the part is then 0 for each. Equal scores put the newer memory first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localville.clock import HOUR, SimTime
from localville.config import Profile
from localville.memory.index import MemoryIndex
from localville.memory.stream import Memory, MemoryStream


class Scored(NamedTuple):
    """Holds a retrieved memory with its scaled parts (each 0..1) and its total."""

    memory: Memory
    recency: float
    importance: float
    relevance: float
    total: float


def retrieve(
    stream: MemoryStream,
    index: MemoryIndex,
    query: NDArray[np.float32],
    now: SimTime,
    k: int,
    profile: Profile,
) -> list[Scored]:
    """The ``k`` best memories for a query vector, best first. Changes nothing: the caller touches what it uses."""
    if len(index) != len(stream):
        raise ValueError(f"the index holds {len(index)} vectors for {len(stream)} memories")
    if not len(stream) or k < 1:
        return []
    hours = (now.seconds - stream.last_accesses) / HOUR
    recency = _scaled(np.power(profile.recency_decay_per_hour, hours))
    importance = _scaled(stream.importances)
    relevance = _scaled(index.similarities(query).astype(np.float64))
    total = (
        profile.weight_recency * recency + profile.weight_importance * importance + profile.weight_relevance * relevance
    )
    return [
        Scored(stream[int(i) + 1], float(recency[i]), float(importance[i]), float(relevance[i]), float(total[i]))
        for i in _best(total, k)
    ]


def _best(total: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """int64[min(k, n)]: where the largest totals are, largest first, of equals the last first."""
    n = len(total)
    # Only what reaches the k-th total is sorted: 0.03 ms instead of 0.4 for 30 of 5,000.
    among = np.flatnonzero(total >= np.partition(total, n - k)[n - k]) if k < n else np.arange(n)
    return among[np.lexsort((-among, -total[among]))[:k]]


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = values.min(), values.max()
    return np.zeros_like(values) if high == low else (values - low) / (high - low)
