"""Drives thoughts in tests: an engine answers asks, given memories answer recalls, hashed words answer comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from localville.chance import seed_for
from localville.clock import SimTime
from localville.config import Persona, Profile
from localville.llm.engine import Ask, Engine, generate
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import HashingEmbedder
from localville.memory.stream import Memory, MemoryKind
from localville.mind.thought import Compare, Latest, Recall, Request, Thought, View
from localville.world.places import Address, Town
from localville.world.residents import starting_tree
from tests.people import somebody, street

T = TypeVar("T")
WAYS = ({"importance": "continue", "place": "channel"}, {"importance": "channel", "place": "instruct"})
"""Both ways each question can be put in."""
EARLIER = SimTime.of("2023-02-13", "06:00")
MEMORIES = tuple(
    Memory(number, MemoryKind.OBSERVATION, text, EARLIER, EARLIER, importance)
    for number, (text, importance) in enumerate(
        [
            ("Ada Lovelace promised to write to Charles", 6),
            ("the stove at House is off", 1),
            ("Zoë 李 told Ada Lovelace of a party", 7),
            ("Ada Lovelace is reading", 2),
        ],
        start=1,
    )
)


def view_of(
    person: Persona | None = None,
    *,
    clock: str = "07:00",
    town: Town | None = None,
    at: str = "House:bedroom",
    ways: Mapping[str, str] = WAYS[0],
    **more: Any,
) -> View:
    """What a person sees who stands in a room at a time of Monday, 13 February 2023."""
    person, town = person or somebody(), town or street()
    now = SimTime.of("2023-02-13", clock)
    return View(person, now, town, starting_tree(town, person), Address.parse(at), Profile(), ways, **more)


def wild() -> Engine:
    """An engine whose texts are drawn letter by letter from the grammars: valid, and nothing more."""
    return ScriptedEngine(ready={})


def think(thought: Thought[T], engine: Engine | None = None, seed: int = 0) -> tuple[T, list[Request]]:
    """Runs a thought to its end; returns its result and what it wanted to know."""
    engine = engine or ScriptedEngine()
    embedder = HashingEmbedder()
    wanted: list[Request] = []
    value: Any = None
    while True:
        try:
            request = thought.send(value)
        except StopIteration as stop:
            return stop.value, wanted
        wanted.append(request)
        match request:
            case Ask(purpose):
                (value,) = generate(engine, [(request, seed_for(seed, purpose, len(wanted)))])
            case tuple():
                pairs = [(ask, seed_for(seed, ask.purpose, len(wanted), n)) for n, ask in enumerate(request)]
                value = tuple(generate(engine, pairs))
            case Recall(_, k):
                value = MEMORIES[:k]
            case Latest(n):
                value = MEMORIES[-n:]
            case Compare(text, others):
                vectors = embedder.embed([text, *others])
                value = tuple((vectors[1:] @ vectors[0]).tolist())


def asks(wanted: list[Request]) -> list[Ask]:
    """The questions to the model among what a thought wanted to know."""
    groups = (request if isinstance(request, tuple) else (request,) for request in wanted)
    return [request for group in groups for request in group if isinstance(request, Ask)]
