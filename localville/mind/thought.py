"""What a thought is: a generator that yields what it wants to know and is resumed with what it learns (DESIGN law 1).

    Ask      a question to the model          → Answer
    Asks     a tuple of questions, put at once → tuple[Answer], in their order
    Recall   a query to the memory stream     → tuple[Memory], best first
    Latest   the end of the memory stream     → tuple[Memory], oldest first
    Compare  a text and what it may be like   → tuple[float], cosine of each

A thought reads no clock, calls no model and touches no file; the scheduler serves it. All it may know of the world is in
its ``View``, a snapshot that does not change while it thinks.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from localville.clock import SimTime
from localville.config import Persona, Profile
from localville.llm.engine import Ask
from localville.llm.grammars import PlannedChunk
from localville.mind.promise import Promise
from localville.world.places import Address, PlaceTree, Town


@dataclass(frozen=True, slots=True)
class Recall:
    """Asks a memory stream for the ``k`` best memories for a query (paper §4.1).

    ``agent`` is whose, for a thought that two share, as a talk is; empty for the thinker's own.
    """

    query: str
    k: int
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Latest:
    """Asks the agent's own memory stream for its latest ``n`` memories; that does not count as retrieval."""

    n: int


@dataclass(frozen=True, slots=True)
class Compare:
    """Asks how like a text is to each of several others; cosines of their embeddings come back."""

    text: str
    others: tuple[str, ...]


Request: TypeAlias = Ask | tuple[Ask, ...] | Recall | Latest | Compare
T = TypeVar("T")
Thought: TypeAlias = Generator[Request, Any, T]


@dataclass(frozen=True, slots=True)
class Summary:
    """What an agent makes of its own memories, a sentence each (paper, appendix A)."""

    core: str
    occupation: str
    progress: str


@dataclass(frozen=True)
class View:
    """Holds what one agent may think with at one moment."""

    persona: Persona
    now: SimTime
    town: Town
    tree: PlaceTree
    at: Address
    """The arena (or outdoors) it stands in."""
    profile: Profile
    ways: Mapping[str, str]
    """How this model is best asked, by purpose; see models/catalog.toml."""
    doing: str = ""
    """The words that follow "is" for whoever sees it now."""
    people: tuple[str, ...] = ()
    """The names of all who live in the town, in id order."""
    summary: Summary | None = None
    """None until the agent has first reflected or slept: then the persona file says all there is."""
    promises: tuple[Promise, ...] = ()
    """What it has agreed to do, oldest first."""
    day_plan: tuple[PlannedChunk, ...] = ()
    hours: tuple[PlannedChunk, ...] = ()
    """The hours of the present part of the day."""
    done_today: tuple[tuple[int, str], ...] = ()
    """What it has done today: second of the day and activity, oldest first."""
    avoids: tuple[Address, ...] = ()
    """Rooms that it has found full a moment ago."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing an agent does, grounded in an object; 5 to 15 minutes, or the rest of the night.

    Whoever waits does it where it stands: the address is then the arena alone, and no object has a state of it.
    """

    start: int
    """Game seconds."""
    end: int
    text: str
    """The words that follow "is": ``making coffee``."""
    address: Address
    object_state: str
    """The words that follow "is" for the object while it is used."""
    emoji: str
