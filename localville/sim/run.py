"""A run: from settings to a folder, step by step, and on from where it was left (DESIGN §6, §7).

    run = Run.create(folder, config, cast, town, engine, embedder, manifest)
    run.live(until, watch)

A run is a function of (config, seed, model file); everything it needs to go on is in its folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from localville.clock import SimTime
from localville.config import Persona, RunConfig
from localville.errors import RunCorrupt, RunError
from localville.llm.engine import Engine
from localville.memory.embed import Embedder, Embeddings
from localville.memory.index import MemoryIndex
from localville.memory.stream import MemoryKind, MemoryStream
from localville.mind.importance import rate
from localville.mind.plan import check_day
from localville.record.reader import RunReader
from localville.record.store import Store
from localville.record.tables import StepRows
from localville.sim.facts import StepFacts
from localville.sim.notice import append_memories
from localville.sim.scheduler import Asked, Scheduler, Task, form_key
from localville.sim.step import next_moment, take_step
from localville.sim.town import AgentState, TownState
from localville.world.places import Address, Town
from localville.world.residents import bed_of, starting_tree

TOWN = ""
"""The checkpoint's name for the state of the town itself."""


@dataclass
class Totals:
    """Counts what a run (since it was opened) has asked of its model."""

    steps: int = 0
    asks: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    forced_tokens: int = 0
    generated_tokens: int = 0

    def add(self, asked: Asked) -> None:
        tokens = asked.answer.tokens
        self.asks += 1
        self.retries += asked.answer.attempt
        self.prompt_tokens += tokens.prompt
        self.reused_tokens += tokens.reused
        self.forced_tokens += tokens.forced
        self.generated_tokens += tokens.generated


Watch = Callable[["Run", StepFacts | None], None]
"""Called after every step with its facts, and with None whenever an answer has come."""


class Run:
    """Holds a town that is being lived, with its record open."""

    def __init__(
        self, store: Store, config: RunConfig, state: TownState, scheduler: Scheduler, ways: Mapping[str, str]
    ) -> None:
        self.store, self.config, self.state, self.scheduler, self.ways = store, config, state, scheduler, ways
        self.totals = Totals()

    @classmethod
    def create(
        cls,
        folder: Path,
        config: RunConfig,
        cast: tuple[Persona, ...],
        town: Town,
        engine: Engine,
        embedder: Embedder,
        ways: Mapping[str, str],
        manifest: dict[str, Any],
    ) -> Self:
        """Begins a run in a new folder: everybody asleep in bed, with the memories of the persona file."""
        agents = []
        for persona in cast:
            check_day(persona)
            tree = starting_tree(town, persona)
            bed = bed_of(town, persona.home, persona.name)
            stream, index = MemoryStream(persona.name), MemoryIndex(embedder.dimension)
            agents.append(AgentState(persona, bed.stand[0], tree, stream, index))
        settings = {"config": config.model_dump(mode="json"), "ways": dict(ways), **manifest}
        store = Store.create(folder, settings, [(p.name, p.model_dump(mode="json")) for p in cast])
        state = TownState(town, SimTime(config.start), agents)
        scheduler = Scheduler(engine, Embeddings(embedder), config.profile, config.seed)
        return cls(store, config, state, scheduler, ways)

    @classmethod
    def resume(cls, folder: Path, town: Town, engine: Engine, embedder: Embedder) -> Self:
        """Opens a run to go on from its last step."""
        with RunReader.open(folder) as reader:
            config = RunConfig.model_validate(reader.manifest["config"])
            checkpoint = reader.checkpoint()
            personas = [Persona.model_validate(data) for data in reader.personas()]
            recorded = {persona.name: reader.memories(persona.name) for persona in personas}
            ways = reader.manifest["ways"]
        widths = {len(vector) for memories in recorded.values() for _, vector in memories}
        if widths - {embedder.dimension}:
            raise RunError(
                f"its memories have vectors of {widths.pop()} numbers, this embedder makes {embedder.dimension}",
                where=str(folder),
                next="Go on with the model and embedder that run.toml names",
            )
        store = Store.open(folder)
        agents, vectors, importance = [], {}, {}
        for persona in personas:
            stream, index = MemoryStream(persona.name), MemoryIndex(embedder.dimension)
            for memory, vector in recorded[persona.name]:
                stream.restore(memory)
                index.add(memory.id, vector)
                vectors[memory.text] = vector
                if memory.kind is not MemoryKind.PLAN:  # plans are not rated
                    importance[memory.text] = memory.importance
            stream.drain_changes()
            if persona.name in checkpoint:
                agents.append(AgentState.from_json(checkpoint[persona.name], persona, town, stream, index))
            elif checkpoint:
                store.close()
                raise RunCorrupt(f"'{persona.name}' has no checkpoint", where=str(folder))
            else:
                bed = bed_of(town, persona.home, persona.name)
                agents.append(AgentState(persona, bed.stand[0], starting_tree(town, persona), stream, index))
        state = TownState(town, SimTime(config.start), agents, importance_known=importance)
        if checkpoint:
            mine = checkpoint[TOWN]
            state.now, state.step = SimTime(mine["now"]), mine["step"]
            config = config.model_copy(update={"until": mine["until"]})
            state.talks = tuple((one, other) for one, other in mine["talks"])
            state.talk_count = mine["talk_count"]
            for which in ("object_states", "set_states"):
                setattr(state, which, {Address.parse(text): words for text, words in mine[which].items()})
        scheduler = Scheduler(engine, Embeddings(embedder, vectors), config.profile, config.seed)
        return cls(store, config, state, scheduler, ways)

    def live(self, watch: Watch | None = None, stop: Callable[[], bool] = lambda: False) -> None:
        """Lives on until the configured end, or until ``stop`` says so after a step. Every step is recorded."""

        def answered(asked: Asked) -> None:
            self.totals.add(asked)
            if watch is not None:
                watch(self, None)

        self.scheduler.on_answer = answered
        while self.state.now.seconds < self.config.until and not stop():
            if self.state.step == 0:
                facts = self._arrive()
                following = self.state.now
            else:
                facts = take_step(self.state, self.scheduler, self.config.profile, self.ways)
                following = next_moment(self.state, facts, self.config.step_seconds)
            self._record(facts, following)
            self.state.now, self.state.step = following, self.state.step + 1
            self.totals.steps += 1
            if watch is not None:
                watch(self, facts)

    @property
    def finished(self) -> bool:
        return self.state.now.seconds >= self.config.until

    def close(self) -> None:
        self.store.close()

    def _arrive(self) -> StepFacts:
        """Step 0: the statements of each persona file become memories (paper §3.1), rated like any other."""
        facts = StepFacts(0, self.state.now)
        seeds = [(agent, text) for agent in self.state.agents for text in agent.persona.seed_memories]
        first = {text: agent for agent, text in reversed(seeds)}
        tasks = [
            Task(first[text], rate(text, self.ways), "remember") for text in dict.fromkeys(text for _, text in seeds)
        ]
        facts.asks = self.scheduler.run(tasks, 0, self.state.now)
        known = self.state.importance_known
        known.update(zip(dict.fromkeys(text for _, text in seeds), (task.result for task in tasks), strict=True))
        rated = [(agent, text, known[text]) for agent, text in seeds]
        append_memories(self.scheduler, self.state.now, MemoryKind.OBSERVATION, rated)
        for agent in self.state.agents:
            agent.unreflected = 0  # what was always known sets off no reflection
        facts.moved = [(agent.name, agent.tile) for agent in self.state.agents]
        facts.changed = list(self.state.agents)
        return facts

    def _record(self, facts: StepFacts, following: SimTime) -> None:
        rows: StepRows = {
            "events": [tuple(event) for event in facts.events],
            "positions": [(name, *tile) for name, tile in facts.moved],
            "plans": [
                (name, level, chunk.start, chunk.end, chunk.activity, chunk.place)
                for level, plans in (("day", facts.day_plans), ("hours", facts.hours))
                for name, plan in plans
                for chunk in plan
            ],
            "actions": [
                (name, a.start, a.end, a.text, *a.address, a.object_state, a.emoji) for name, a in facts.actions
            ],
            "questions": facts.questions,
            "promises": [(name, p.date, p.start, p.end, p.place, p.activity, p.source) for name, p in facts.promises],
            "utterances": [
                (talk, turn, line.speaker, line.listener, line.text) for talk, turn, line in facts.utterances
            ],
            "summaries": facts.summaries,
            "object_states": list(facts.states.items()),
            "asks": [_ask_row(asked) for asked in facts.asks],
            "memories": [],
            "accesses": [],
            "repeats": [],
        }
        for agent in self.state.agents:
            new, touched, repeated = agent.stream.drain_changes()
            vectors = self.scheduler.embedder.embed([memory.text for memory in new])
            for memory, vector in zip(new, vectors, strict=True):
                lists = (json.dumps(memory.evidence), json.dumps(memory.people, ensure_ascii=False))
                when = (memory.created.seconds, memory.last_access.seconds)
                blob = vector.astype("<f4").tobytes()
                head = (agent.name, memory.id, memory.kind.value, memory.text)
                # The column is counted up by `repeats`, of this very step too.
                rows["memories"].append((*head, *when, memory.importance, *lists, 1, blob))
            rows["accesses"] += [(agent.name, memory.id) for memory in touched]
            rows["repeats"] += [(agent.name, memory.id) for memory in repeated]
        parts = [part for asked in facts.asks for part in asked.ask.prompt.parts]
        states: list[tuple[str, dict[str, Any]]] = [(agent.name, agent.to_json()) for agent in facts.changed]
        town = {
            "now": following.seconds,
            "step": self.state.step + 1,
            "object_states": {str(address): words for address, words in self.state.object_states.items()},
            "set_states": {str(address): words for address, words in self.state.set_states.items()},
            "talks": [list(pair) for pair in self.state.talks],
            "talk_count": self.state.talk_count,
            "until": self.config.until,
        }
        self.store.write_step(facts.number, facts.at, rows, parts, [*states, (TOWN, town)])


def _ask_row(asked: Asked) -> tuple[Any, ...]:
    answer, tokens = asked.answer, asked.answer.tokens
    chances = None if answer.probabilities is None else json.dumps([round(p, 6) for p in answer.probabilities])
    return (
        asked.agent,
        asked.ask.purpose,
        json.dumps([part.key for part in asked.ask.prompt.parts]),
        form_key(asked.ask),
        f"{asked.seed:016x}",
        answer.text,
        chances,
        answer.attempt,
        tokens.prompt,
        tokens.reused,
        tokens.forced,
        tokens.generated,
        answer.seconds,
    )
