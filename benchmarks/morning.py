"""The three-agent morning, measured: wall time, peak memory, tokens by purpose, and the same asks put through a plain loop.

    python -m benchmarks.morning --model qwen2.5-coder-1.5b [--until 13:00] [--sample 24]

The baseline in the same process is what a user of the high-level API would write: one question after another, the whole
prompt each time (`llama_cpp.Llama`, reset before each), as many tokens out as our answer has. It is put a sample of the
very asks of the run, spread evenly over it, and scaled up.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sqlite3
import tempfile
from pathlib import Path
from time import perf_counter

from localville.clock import parse_moment
from localville.config import RunConfig, find_scenario, load_cast
from localville.llm.catalog import embedder_path, find_model
from localville.llm.llamacpp import LlamaCppEngine
from localville.memory.embed import SentenceEmbedder
from localville.record.hash import recompute
from localville.sim.run import Run
from localville.world.places import Town


def main() -> None:
    """Runs the morning and the sample, and prints both with their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--until", default="13:00")
    parser.add_argument("--sample", type=int, default=24, help="asks put through the plain loop; 0 leaves it out")
    wanted = parser.parse_args()
    scenario, path = find_scenario("cafe")
    cast, town, weights = load_cast(scenario, path), Town.load(scenario.map), find_model(wanted.model)
    start = scenario.start_time
    config = RunConfig(
        scenario="cafe", model=weights.name, start=start.seconds, until=parse_moment(wanted.until, start).seconds
    )
    opened = perf_counter()
    engine = LlamaCppEngine(weights.path, sha256=weights.sha256)
    embedder = SentenceEmbedder(embedder_path())
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; {weights.name}")
    print(f"loading {perf_counter() - opened:.1f} s, {engine.manifest()['profile']['row_rule']=}")
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        run = Run.create(
            Path(folder) / "run", config, cast, town, engine, embedder, weights.ways, {"engine": engine.manifest()}
        )
        run.live()
        run.close()
        wall = perf_counter() - began
        engine.close()
        database = sqlite3.connect(Path(folder) / "run" / "run.db")
        _report(database, wall, config)
        if wanted.sample:
            _plain_loop(database, weights.path, wanted.sample, wall)
        *_, (_, _, end) = recompute(database)
        print(f"log hash {end}")
        database.close()


def _report(database: sqlite3.Connection, wall: float, config: RunConfig) -> None:
    print(f"{'purpose':14} asks retries prompt reused forced generated")
    for row in database.execute("SELECT * FROM totals"):
        print(f"{row[0]:14} {row[1]:4} {row[2]:7} {row[3]:6} {row[4]:6} {row[5]:6} {row[6]:9}")
    asks, prompt, reused, generated = database.execute(
        "SELECT sum(asks), sum(prompt_tokens), sum(reused_tokens), sum(generated_tokens) FROM totals"
    ).fetchone()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{wall:.0f} s for {(config.until - config.start) / 3600:g} game hours; {asks} asks; {prompt - reused} new prompt "
        f"tokens, {reused / prompt:.1%} reused; {generated} generated; peak memory {memory:.2f} GB"
    )


def _plain_loop(database: sqlite3.Connection, model: Path, sample: int, wall: float) -> None:
    from llama_cpp import Llama

    parts = dict(database.execute("SELECT key, text FROM prompt_parts"))
    rows = database.execute("SELECT prompt, form, answer, generated_tokens + forced_tokens FROM asks ORDER BY rowid")
    asks = [(_whole(prompt, parts), max(count, 1)) for prompt, _, _, count in rows]
    chosen = asks[:: max(1, len(asks) // sample)][:sample]
    plain = Llama(str(model), n_ctx=2048, verbose=False)
    began = perf_counter()
    for text, count in chosen:
        plain.reset()
        plain.create_completion(text, max_tokens=count, temperature=0.0)
    seconds = (perf_counter() - began) * len(asks) / len(chosen)
    print(
        f"plain loop: {len(chosen)} of {len(asks)} asks, scaled up {seconds:.0f} s, one answer each and nothing constrained "
        f"or scored; ratio {seconds / wall:.1f}"
    )


def _whole(prompt: str, parts: dict[str, str]) -> str:
    import json

    return "".join(parts[key] for key in json.loads(prompt))


if __name__ == "__main__":
    main()
