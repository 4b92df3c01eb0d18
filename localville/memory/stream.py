"""The memory stream: everything an agent has seen, done, planned, said and concluded, in order (paper §4.1).

It is append-only, but for two things that change: the time of last access, and how often an observation was made. What is
seen again reinforces the memory it repeats, instead of filling the stream (of the original's memories 42 to 49 % are
duplicates). Ids are 1, 2, 3 … within an agent, so that evidence can point at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from localville.clock import SimTime

_FIRST_ROOM = 64

_Array = TypeVar("_Array", NDArray[np.float64], NDArray[np.int64])


class MemoryKind(StrEnum):
    """Names what a memory is (paper §4.1–4.3)."""

    OBSERVATION = "observation"
    REFLECTION = "reflection"
    PLAN = "plan"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Memory:
    """Holds one memory.

    ``importance`` is 1..10; ``evidence`` are ids of older memories of the same agent; ``people`` took part in a chat;
    ``count`` is how often it was observed.
    """

    id: int
    kind: MemoryKind
    text: str
    created: SimTime
    last_access: SimTime
    importance: int
    evidence: tuple[int, ...] = ()
    people: tuple[str, ...] = ()
    count: int = 1


class Changes(NamedTuple):
    """What happened to a stream since it was last asked: new memories; old and new ones retrieved; ones made again."""

    new: list[Memory]
    touched: list[Memory]
    repeated: list[Memory]


class MemoryStream:
    """Holds one agent's memories with what retrieval needs of them as arrays, in id order."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._memories: list[Memory] = []
        self._importance = np.zeros(_FIRST_ROOM, dtype=np.float64)
        self._last_access = np.zeros(_FIRST_ROOM, dtype=np.int64)
        self._new_since = 0
        self._touched: set[int] = set()
        self._repeated: set[int] = set()
        self._by_text: dict[tuple[MemoryKind, str], int] = {}

    def append(
        self,
        text: str,
        kind: MemoryKind,
        at: SimTime,
        importance: int,
        evidence: Iterable[int] = (),
        people: Iterable[str] = (),
    ) -> Memory:
        """Adds a memory, created and last accessed ``at``.

        Raises ValueError for a blank text, a rating off the scale, or evidence that is not older.
        """
        if not text.strip():
            raise ValueError("a memory needs words")
        if not 1 <= importance <= 10:
            raise ValueError(f"importance is 1 to 10, not {importance}")
        evidence = tuple(evidence)
        if not all(1 <= old <= len(self) for old in evidence):
            raise ValueError(f"evidence {evidence} is not among the memories 1 to {len(self)}")
        memory = Memory(len(self) + 1, kind, text, at, at, importance, evidence, tuple(people))
        self.restore(memory)
        return memory

    def restore(self, memory: Memory) -> None:
        """Adds a memory as it was recorded; its id must be the next one."""
        if memory.id != len(self) + 1:
            raise ValueError(f"memory {memory.id} cannot follow {len(self)}")
        if len(self) == len(self._importance):
            self._importance = np.concatenate([self._importance, np.zeros_like(self._importance)])
            self._last_access = np.concatenate([self._last_access, np.zeros_like(self._last_access)])
        self._importance[len(self)] = memory.importance
        self._last_access[len(self)] = memory.last_access.seconds
        self._memories.append(memory)
        self._by_text[memory.kind, memory.text] = memory.id

    def known(self, kind: MemoryKind, text: str) -> int | None:
        """The id of the memory of this kind with this text, if it was made before."""
        return self._by_text.get((kind, text))

    def reinforce(self, number: int, at: SimTime) -> None:
        """Notes that a memory was made again, once a drain: it counts one more and is as fresh as if retrieved."""
        if number in self._repeated:
            return
        memory = self[number]
        self._memories[number - 1] = replace(memory, last_access=at, count=memory.count + 1)
        self._last_access[number - 1] = at.seconds
        self._repeated.add(number)

    def touch(self, ids: Iterable[int], at: SimTime) -> None:
        """Refreshes the last access of retrieved memories (paper §4.1). Raises KeyError for an unknown id."""
        for number in ids:
            self._memories[number - 1] = replace(self[number], last_access=at)
            self._last_access[number - 1] = at.seconds
            self._touched.add(number)

    def latest(self, n: int, kinds: frozenset[MemoryKind] = frozenset(MemoryKind)) -> list[Memory]:
        """The latest ``n`` memories of some kinds, oldest first."""
        found = [memory for memory in reversed(self._memories) if memory.kind in kinds][:n]
        return found[::-1]

    def drain_changes(self) -> Changes:
        """What is new, retrieved or repeated since the last drain: what a step records."""
        touched, repeated = ([self[number] for number in sorted(ids)] for ids in (self._touched, self._repeated))
        changes = Changes(self._memories[self._new_since :], touched, repeated)
        self._new_since, self._touched, self._repeated = len(self), set(), set()
        return changes

    @property
    def importances(self) -> NDArray[np.float64]:
        """float64[n], in id order; a read-only view."""
        return _read_only(self._importance[: len(self)])

    @property
    def last_accesses(self) -> NDArray[np.int64]:
        """int64[n] game seconds, in id order; a read-only view."""
        return _read_only(self._last_access[: len(self)])

    def __len__(self) -> int:
        return len(self._memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self._memories)

    def __getitem__(self, number: int) -> Memory:
        """A memory by its id."""
        if not 1 <= number <= len(self):
            raise KeyError(number)
        return self._memories[number - 1]


def _read_only(view: _Array) -> _Array:
    view.flags.writeable = False
    return view
