"""The state of a run: what can change, and nothing else. Places are facts of `world`, texts and vectors of `memory`.

At the end of a step the whole of it is plain data (``AgentState.to_json``), so a run can be continued from its record
(DESIGN law 6). Between steps no thought is under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from localville.clock import SimTime
from localville.config import Persona
from localville.llm.grammars import PlannedAction, PlannedChunk
from localville.memory.index import MemoryIndex
from localville.memory.stream import MemoryStream
from localville.mind.promise import Promise
from localville.mind.thought import Action, Summary
from localville.world.grid import Tile
from localville.world.places import Address, PlaceTree, Town


def _plain(value: Action | PlannedChunk | PlannedAction | Promise | Summary) -> dict[str, Any]:
    """The fields of a flat value; ``dataclasses.asdict`` copies deeply and costs far more, twice a step."""
    return {name: getattr(value, name) for name in value.__slots__}


@dataclass
class AgentState:
    """Holds one agent's body, plans and memory."""

    persona: Persona
    tile: Tile
    tree: PlaceTree
    stream: MemoryStream
    index: MemoryIndex
    action: Action | None = None
    goal: tuple[Tile, ...] = ()
    """Tiles that end the walk, any of them; empty when there is nowhere to go."""
    wake_at: int | None = None
    """Game seconds at which a sleeper gets up; None while awake, or asleep and not yet decided."""
    asleep: bool = True
    day_plan: tuple[PlannedChunk, ...] = ()
    hours: tuple[PlannedChunk, ...] = ()
    """The hours of the part of the day that was last begun."""
    planned: tuple[PlannedAction, ...] = ()
    """Fine actions still to come, the nearest first."""
    done_today: tuple[tuple[int, str], ...] = ()
    promises: tuple[Promise, ...] = ()
    summary: Summary | None = None
    summary_due: bool = False
    """Whether enough has changed for the summary to be made anew: after a reflection, and in the morning."""
    talked: dict[str, int] = field(default_factory=dict)
    """Name → game seconds at which the last talk with them ended."""
    considered: dict[str, int] = field(default_factory=dict)
    """Name → game seconds at which it last thought of turning to them."""
    talking_until: int = 0
    """Game seconds."""
    sees_to: str = ""
    """Address of the object out of order that its present action is about; empty otherwise."""
    stopped_at: str = ""
    """Address of the full room before which it has stopped and not yet decided what to do."""
    waits_for: str = ""
    """Address of the full room it waits for."""
    avoids: dict[str, int] = field(default_factory=dict)
    """Address of a room found full → game seconds until which it looks for another."""
    unreflected: int = 0
    """Summed importance of observations and chats since the last reflection."""
    recent: tuple[str, ...] = ()
    """The latest percepts, for retention."""
    to_remember: tuple[str, ...] = ()
    """What it did in the last step, to be remembered as an observation in the next."""

    @property
    def name(self) -> str:
        return self.persona.name

    @property
    def walking(self) -> bool:
        return bool(self.goal) and self.tile not in self.goal

    def activity(self) -> str:
        """The words that follow "is" for whoever sees the agent now."""
        if self.action is None:
            return "sleeping" if self.asleep else "waking up"
        if self.walking:
            return f"on the way to {self.action.address.sector}"
        return self.action.text

    def to_json(self) -> dict[str, Any]:
        """All of it that the memory tables do not hold, as plain data."""
        return {
            "tile": list(self.tile),
            "tree": self.tree.to_json(),
            "action": None if self.action is None else {**_plain(self.action), "address": str(self.action.address)},
            "goal": [list(tile) for tile in self.goal],
            "wake_at": self.wake_at,
            "asleep": self.asleep,
            "day_plan": [_plain(chunk) for chunk in self.day_plan],
            "hours": [_plain(chunk) for chunk in self.hours],
            "planned": [_plain(action) for action in self.planned],
            "done_today": [list(done) for done in self.done_today],
            "promises": [_plain(promise) for promise in self.promises],
            "talked": dict(self.talked),
            "considered": dict(self.considered),
            "talking_until": self.talking_until,
            "sees_to": self.sees_to,
            "stopped_at": self.stopped_at,
            "waits_for": self.waits_for,
            "avoids": dict(self.avoids),
            "summary": None if self.summary is None else _plain(self.summary),
            "summary_due": self.summary_due,
            "unreflected": self.unreflected,
            "recent": list(self.recent),
            "to_remember": list(self.to_remember),
        }

    @classmethod
    def from_json(
        cls, data: dict[str, Any], persona: Persona, town: Town, stream: MemoryStream, index: MemoryIndex
    ) -> AgentState:
        """Rebuilds an agent from a checkpoint and its memories."""
        action = data["action"]
        return cls(
            persona=persona,
            tile=Tile(*data["tile"]),
            tree=PlaceTree.from_json(town, data["tree"]),
            stream=stream,
            index=index,
            action=None if action is None else Action(**{**action, "address": Address.parse(action["address"])}),
            goal=tuple(Tile(*tile) for tile in data["goal"]),
            wake_at=data["wake_at"],
            asleep=data["asleep"],
            day_plan=tuple(PlannedChunk(**chunk) for chunk in data["day_plan"]),
            hours=tuple(PlannedChunk(**chunk) for chunk in data["hours"]),
            planned=tuple(PlannedAction(**action) for action in data["planned"]),
            done_today=tuple((second, text) for second, text in data["done_today"]),
            promises=tuple(Promise(**promise) for promise in data["promises"]),
            talked=dict(data["talked"]),
            considered=dict(data["considered"]),
            talking_until=data["talking_until"],
            sees_to=data["sees_to"],
            stopped_at=data["stopped_at"],
            waits_for=data["waits_for"],
            avoids=dict(data["avoids"]),
            summary=None if data["summary"] is None else Summary(**data["summary"]),
            summary_due=data["summary_due"],
            unreflected=data["unreflected"],
            recent=tuple(data["recent"]),
            to_remember=tuple(data["to_remember"]),
        )


@dataclass
class TownState:
    """Holds a town in one moment: the clock, the agents in id order, and the objects that are not idle."""

    town: Town
    now: SimTime
    agents: list[AgentState]
    step: int = 0
    object_states: dict[Address, str] = field(default_factory=dict)
    """Of the objects that are not idle: what their users make of them, and what was set."""
    set_states: dict[Address, str] = field(default_factory=dict)
    """States set from outside; they stay until somebody's action puts them right."""
    importance_known: dict[str, int] = field(default_factory=dict)
    """Importance by memory text: asked once a text (a cache; rebuilt from the memories)."""

    talks: tuple[tuple[str, str], ...] = ()
    """Who talks in this step, by name, the one who began it first; agreed in the step before."""
    talk_count: int = 0

    def talks_with(self, name: str) -> bool:
        """Whether somebody is held by a talk."""
        return any(name in pair for pair in self.talks)

    def agent(self, name: str) -> AgentState:
        return next(agent for agent in self.agents if agent.name == name)
