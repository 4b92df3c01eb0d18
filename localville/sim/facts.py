"""What one step changed, for the record, and what a thought decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from localville.clock import SimTime
from localville.llm.grammars import PlannedAction, PlannedChunk
from localville.mind.promise import Promise
from localville.mind.talk import Utterance
from localville.mind.thought import Action
from localville.sim.scheduler import Asked
from localville.sim.town import AgentState
from localville.world.grid import Tile


class Event(NamedTuple):
    """One thing that happened: ``kind`` is wake, act, arrive, sleep, reflect, talk, react, wait, avoid."""

    agent: str
    kind: str
    text: str


@dataclass
class StepFacts:
    """Collects what one step changed, for the record."""

    number: int
    at: SimTime
    events: list[Event] = field(default_factory=list)
    asks: list[Asked] = field(default_factory=list)
    day_plans: list[tuple[str, tuple[PlannedChunk, ...]]] = field(default_factory=list)
    hours: list[tuple[str, tuple[PlannedChunk, ...]]] = field(default_factory=list)
    summaries: list[tuple[str, str, str]] = field(default_factory=list)
    """Agent, which part, sentence."""
    questions: list[tuple[str, str]] = field(default_factory=list)
    """Agent and focal question."""
    promises: list[tuple[str, Promise]] = field(default_factory=list)
    utterances: list[tuple[int, int, Utterance]] = field(default_factory=list)
    """Number of the talk, turn counted from 1, what was said."""
    actions: list[tuple[str, Action]] = field(default_factory=list)
    moved: list[tuple[str, Tile]] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """Object address → new state."""
    changed: list[AgentState] = field(default_factory=list)
    """Agents whose checkpoint differs from the step before."""


class Decision(NamedTuple):
    """What a thought decided; None where it left things as they are."""

    wake_at: int | None = None
    wakes: bool = False
    yesterday: str = ""
    day_plan: tuple[PlannedChunk, ...] | None = None
    hours: tuple[PlannedChunk, ...] | None = None
    planned: tuple[PlannedAction, ...] | None = None
    action: Action | None = None
    put_right: bool | None = None
    """Whether what was seen to is in order again."""
    full: str = ""
    """Address of the room found full."""
    waits: bool = False
    """Whether the action is to wait for it."""
    avoid_seconds: int = 0
    """How long it is kept away from, by one that does not wait."""
