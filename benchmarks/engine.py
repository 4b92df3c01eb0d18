"""The batched engine against itself one at a time, and against a plain loop, on the same asks in the same process.

    python -m benchmarks engine [--model smollm2-135m] [--until 06:10] [--sample 0]

The asks are recorded from the cafe lived by the scripted engine, so they are the same on every machine and come in the
groups in which a run puts them. Three ways answer them, each from a cold start, with the model loaded:

    batched     our engine, 8 slots, prefixes reused
    one by one  our engine, 1 slot, nothing kept
    plain loop  llama_cpp.Llama: the whole prompt each time, then as many tokens as our engine wrote; no grammar, and
                one reading of the prompt where ours scores every option, so it does less than it would have to
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from datetime import date
from pathlib import Path
from time import perf_counter

from localville.clock import parse_moment
from localville.config import RunConfig, find_scenario, load_cast
from localville.llm.catalog import find_model
from localville.llm.engine import Answer, Ask, generate
from localville.llm.llamacpp import LlamaCppEngine
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import HashingEmbedder
from localville.sim.run import Run
from localville.world.places import Town
from localville.world.tiled import find_map

Group = list[tuple[Ask, int]]
"""Asks that were under way together, with their seeds."""


class Recorder(ScriptedEngine):
    """Keeps what it is asked, by the groups in which it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[Group] = []

    def poll(self) -> list[tuple[int, Answer]]:
        if self._pending:
            self.groups.append([(ask, seed) for _, ask, seed in self._pending])
        return super().poll()


def record(until: str, ways: dict[str, str]) -> list[Group]:
    """The asks of the cafe from its start to ``until``."""
    scenario, path = find_scenario("cafe")
    start = scenario.start_time
    config = RunConfig(scenario="cafe", model="scripted", start=start.seconds, until=parse_moment(until, start).seconds)
    engine = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        cast, town = load_cast(scenario, path), Town.load(find_map(scenario.map))
        run = Run.create(Path(folder) / "run", config, cast, town, engine, HashingEmbedder(), ways, {})
        run.live()
        run.close()
    return engine.groups


def ours(model: Path, groups: list[Group], *, slots: int, cache_bytes: int = 1 << 30) -> tuple[float, list[Answer]]:
    """Seconds and answers of our engine, loading left out."""
    engine = LlamaCppEngine(model, slots=slots, cache_bytes=cache_bytes)
    began = perf_counter()
    answers = [answer for group in groups for answer in generate(engine, group)]
    seconds = perf_counter() - began
    engine.close()
    return seconds, answers


def plain(model: Path, asks: list[Ask], answers: list[Answer]) -> float:
    """Seconds of the loop that a user of the high-level API would write, loading left out."""
    from llama_cpp import Llama

    llama = Llama(str(model), n_ctx=2048, verbose=False)
    began = perf_counter()
    for ask, answer in zip(asks, answers, strict=True):
        llama.reset()
        count = max(1, answer.tokens.generated + answer.tokens.forced)
        llama.create_completion(ask.prompt.text(), max_tokens=count, temperature=0.0)
    seconds = perf_counter() - began
    llama.close()
    return seconds


def main() -> None:
    """Records, runs the three ways, prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--until", default="06:10", help="how much of the morning is recorded")
    parser.add_argument("--sample", type=int, default=0, help="only the first so many groups of asks; 0: all")
    wanted = parser.parse_args()
    weights = find_model(wanted.model)
    groups = record(wanted.until, dict(weights.ways))[: wanted.sample or None]
    asks = [ask for group in groups for ask, _ in group]
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}; {weights.name}; {date.today()}")
    print(f"{len(asks)} asks in {len(groups)} groups, the largest of {max(map(len, groups))}", flush=True)
    batched, answers = ours(weights.path, groups, slots=8)
    reused, prompt = sum(a.tokens.reused for a in answers), sum(a.tokens.prompt for a in answers)
    print(f"batched     {batched:7.1f} s          {reused / prompt:.0%} of {prompt} prompt tokens reused", flush=True)
    loop = plain(weights.path, asks, answers)
    print(f"plain loop  {loop:7.1f} s  {loop / batched:5.2f}x   unconstrained, unscored", flush=True)
    alone, twins = ours(weights.path, groups, slots=1, cache_bytes=0)
    same = [a.value for a in answers] == [b.value for b in twins]
    print(f"one by one  {alone:7.1f} s  {alone / batched:5.2f}x   {'the same answers' if same else 'OTHER ANSWERS'}")


if __name__ == "__main__":
    main()
