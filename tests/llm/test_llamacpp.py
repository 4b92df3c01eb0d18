"""The llama.cpp engine on the smallest real model: the same bits however the work is arranged."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from localville.errors import AnswerUnfinished, AskTooLong, EngineError, GrammarError, ModelCorrupt, ModelMissing
from localville.llm.constraints import Constraints
from localville.llm.context import Context, Rows
from localville.llm.engine import Answer, Ask, Choose, Fill, Grammar, Part, Prompt, Rate, Role, Write, generate
from localville.llm.llamacpp import LlamaCppEngine
from localville.llm.scoring import log_probabilities
from localville.llm.selftest import RowRule, known_rule
from localville.llm.weights import Weights, check_gguf

pytestmark = pytest.mark.model

TOWN = "Oak Hill is a small town by a river. Isabella Rodriguez runs Hobbs Cafe and opens it at eight.\n"
SAY = Grammar("say", """root ::= "Isabella: " [A-Z] [a-z ,']{2,24} [.!?]""")
NAME = Grammar("name", 'root ::= [A-Z] [a-z]{1,5} "\\n"')


class Mood(BaseModel):
    feeling: str = Field(pattern="^[a-z]{3,8}$")
    strength: int = Field(ge=1, le=5)


def text(*parts: str) -> Prompt:
    return Prompt(tuple(Part("town" if number == 0 else "situation", part) for number, part in enumerate(parts)))


def chat(*parts: tuple[Role, str]) -> Prompt:
    return Prompt(tuple(Part("part", text, role) for role, text in parts))


ASKS = [
    Ask(
        "place",
        text(TOWN, "She makes coffee in the"),
        Choose((" kitchen", " kitchen of the cafe", " park", " old mill")),
    ),
    Ask(
        "place", text(TOWN, "She waters the plants"), Choose(("garden", "cafe"), framings=("In the garden: ", "Cafe: "))
    ),
    Ask("react", text(TOWN, "Will she stop? Answer:"), Choose((" yes", " no"), 1.0, baseline=text(TOWN, "Answer:"))),
    Ask("rate", text(TOWN, "From 1 to 10, opening the cafe matters"), Rate(temperature=1.0)),
    Ask(
        "rate",
        text(TOWN, "She breaks up with her friend"),
        Rate(dull=("Boring: ",), vivid=("Unforgettable: ",), anchors=(("She eats", 1), ("She marries", 10))),
    ),
    Ask("say", chat((Role.SYSTEM, TOWN), (Role.USER, "Greet the guests.")), Write(SAY, 40, 0.8, 0.95, 1.2)),
    Ask("say", text(TOWN, "A guest comes in.\n"), Write(SAY, 40, 0.8)),
    Ask("name", text(TOWN, "Her best friend is called "), Write(NAME, 10)),
    Ask("mood", chat((Role.USER, TOWN + "How is she?"), (Role.ASSISTANT, "As JSON: ")), Fill(Mood, 40, 0.7)),
]
PAIRS = [(ask, 100 + number) for number, ask in enumerate(ASKS)]


def essence(answer: Answer) -> tuple[Any, ...]:
    return answer.value, answer.probabilities, answer.scores, answer.attempt, answer.tokens.prompt


def bits(trace: list[Any], first_ticket: int = 1) -> dict[tuple[int, int], list[str]]:
    """The logits each strand received, in its own order."""
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (ticket, index), digest in trace:
        found[ticket - first_ticket, index].append(digest)
    return found


@pytest.fixture(autouse=True, scope="module")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Row rules are noted in a folder of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALVILLE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def engine(small_model_path: Path) -> Iterator[LlamaCppEngine]:
    engine = LlamaCppEngine(small_model_path, slots=4, threads=1, context_tokens=512)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def alone(small_model_path: Path) -> tuple[list[Answer], dict[tuple[int, int], list[str]]]:
    """The slow twin: one lane, nothing kept, one ask after the other."""
    engine = LlamaCppEngine(small_model_path, slots=1, threads=1, context_tokens=512, cache_bytes=0)
    trace = engine.trace()
    answers = [generate(engine, [pair])[0] for pair in PAIRS]
    engine.close()
    return answers, bits(trace)


def same_as_alone(answers: list[Answer], found: dict[tuple[int, int], list[str]], alone: Any) -> None:
    assert [essence(answer) for answer in answers] == [essence(answer) for answer in alone[0]]
    # Memoised strands need not be read again; those that are read must have the same bits.
    assert {key: alone[1][key] for key in found} == found
    assert len({ticket for ticket, _ in found}) == len(PAIRS)


def test_batched_and_warm_answers_have_the_bits_of_answers_alone(engine: LlamaCppEngine, alone: Any) -> None:
    trace = engine.trace()
    together = generate(engine, PAIRS)
    same_as_alone(together, bits(trace), alone)
    calls = engine.stats.calls
    trace = engine.trace()
    warm = generate(engine, PAIRS)
    same_as_alone(warm, bits(trace, first_ticket=len(PAIRS) + 1), alone)
    assert engine.stats.calls - calls < calls, "warm prompts must be cheaper"
    assert sum(a.tokens.reused for a in warm) > sum(a.tokens.reused for a in together)


def test_prefixes_on_disk_save_reading_and_change_no_bit(
    small_model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path))
    asks = [(Ask("name", text(TOWN * 4, f"{who}'s friend is called "), Write(NAME, 10)), 7) for who in ("Ada", "Ben")]
    read, answers, traces = [], [], []
    for damaged in (False, False, True):
        if damaged:
            (file,) = tmp_path.glob("prefixes/*/*.npz")
            file.write_bytes(file.read_bytes()[:-2000])
        engine = LlamaCppEngine(small_model_path, slots=1, threads=1, context_tokens=256, keep_prefixes=True)
        trace = engine.trace()
        answers.append([essence(answer) for answer in generate(engine, asks)])
        traces.append(bits(trace))
        read.append(engine.stats.prefill_rows)
        engine.close()
    assert answers[0] == answers[1] == answers[2]
    assert traces[0] == traces[1] == traces[2]
    assert read[0] == read[2] > read[1] + 64


@pytest.mark.parametrize(
    "settings",
    [
        {"slots": 3, "cache_bytes": 0},
        {"slots": 2, "threads": 2, "cache_bytes": 3_000_000},
        {"slots": 5, "rule": "alone:3"},
    ],
    ids=["no cache", "two threads, a cache for one prompt", "one lane a call, three to write"],
)
def test_neither_slots_nor_threads_nor_cache_change_a_bit(
    settings: dict[str, Any], small_model_path: Path, alone: Any
) -> None:
    engine = LlamaCppEngine(small_model_path, context_tokens=512, **({"threads": 1} | settings))
    trace = engine.trace()
    answers = generate(engine, PAIRS[::-1])[::-1]
    found = {(len(PAIRS) - 1 - ticket, index): digests for (ticket, index), digests in bits(trace).items()}
    engine.close()
    same_as_alone(answers, found, alone)


def test_without_restored_states_the_answers_are_the_same(small_model_path: Path, alone: Any) -> None:
    engine = LlamaCppEngine(small_model_path, slots=4, threads=1, context_tokens=512, rule="cold")
    places = [0, 3, 7]
    answers = generate(engine, [PAIRS[place] for place in places])
    assert [essence(answer) for answer in answers] == [essence(alone[0][place]) for place in places]
    assert engine.stats.restore_seconds < 0.1
    engine.close()


def test_a_long_neighbour_changes_no_bit(small_model_path: Path) -> None:
    """Attention runs over as many cells as the longest lane of a call has; masked cells must add nothing."""
    weights = Weights(small_model_path)
    context = Context(weights, lanes=3, cells=512, threads=1)
    tokens = weights.tokens(TOWN * 20)[:300]
    context.decode([Rows(0, tokens[:24])])
    context.decode([Rows(1, tokens)])
    short, long = context.save(0), context.save(1)
    expected = [context.decode([Rows(0, rows)])[0].copy() for rows in (tokens[24:32], tokens[32:33])]
    context.load(2, long, 300)  # the lane held a long text before
    context.load(2, short, 24)
    beside = [context.decode([Rows(1, rows), Rows(2, rows)])[1].copy() for rows in (tokens[24:32], tokens[32:33])]
    assert [logits.tobytes() for logits in beside] == [logits.tobytes() for logits in expected]
    context.close()
    weights.close()


def test_an_interrupted_poll_goes_on_to_the_same_answers(
    engine: LlamaCppEngine, alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [engine.submit(*pair) for pair in PAIRS]
    decode, calls = engine._context.decode, [0]

    def interrupted(rows: Any) -> Any:
        logits = decode(rows)
        calls[0] += 1
        if calls[0] in (3, 9):
            raise KeyboardInterrupt
        return logits

    monkeypatch.setattr(engine._context, "decode", interrupted)
    done: dict[int, Answer] = {}
    interruptions = 0
    while len(done) < len(tickets):
        try:
            done.update(engine.poll())
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions == 2
    assert [essence(done[ticket]) for ticket in tickets] == [essence(answer) for answer in alone[0]]
    assert engine.poll() == []


def test_scores_are_those_of_reading_each_option_by_itself(small_model_path: Path, alone: Any) -> None:
    weights = Weights(small_model_path)
    context = Context(weights, lanes=1, cells=256, threads=1)
    ask = ASKS[0]
    assert isinstance(ask.form, Choose)
    prompt = [token for part in ask.prompt.parts for token in weights.tokens(part.text)]
    for option, score in zip(ask.form.options, alone[0][0].scores, strict=True):
        tokens = weights.tokens(option)
        context.clear(0)
        (logits,) = context.decode([Rows(0, [*prompt, *tokens], every=True)])
        rows = logits[len(prompt) - 1 :]
        plain = sum(float(log_probabilities(row, [token])[0]) for row, token in zip(rows, tokens, strict=False))
        if option == " kitchen":  # it begins another option, so it must also not go on with " of"
            plain += float(np.log1p(-np.exp(log_probabilities(rows[len(tokens)], weights.tokens(" of"))[0])))
        assert score == pytest.approx(plain, abs=1e-3)
    context.close()
    weights.close()


def test_cold_text_is_that_of_a_plain_loop(small_model_path: Path, alone: Any) -> None:
    """Greedy under the mask, token by token, without batching, forcing ahead or reuse."""
    weights = Weights(small_model_path)
    context = Context(weights, lanes=1, cells=256, threads=1)
    ask = ASKS[7]
    assert isinstance(ask.form, Write)
    matcher = Constraints.for_llama(weights.vocab).matcher(ask.form)
    written: list[int] = []
    tokens = [token for part in ask.prompt.parts for token in weights.tokens(part.text)]
    while not matcher.done():
        (logits,) = context.decode([Rows(0, tokens)])
        token = int(np.where(matcher.mask(), logits[-1], -np.inf).argmax())
        if token in weights.ends:
            break
        matcher.commit(token)
        written.append(token)
        tokens = [token]
    assert weights.text(written) == alone[0][7].value
    context.close()
    weights.close()


def test_tokens_are_accounted_for(alone: Any) -> None:
    for answer, ask in zip(alone[0], ASKS, strict=True):
        tokens = answer.tokens
        assert 0 <= tokens.reused <= tokens.prompt
        assert (tokens.generated + tokens.forced > 0) is isinstance(ask.form, Write | Fill)
    assert alone[0][5].tokens.forced >= 1, "'Isabella: ' is forced"


def test_markers_in_a_text_are_text(small_model_path: Path) -> None:
    weights = Weights(small_model_path)
    inert = weights.tokens("<|im_end|>")
    assert len(inert) > 1
    assert weights.text(list(inert)) == "<|im_end|>"
    assert len(weights.tokens("<|im_end|>", special=True)) == 1
    weights.close()


def test_an_answer_cut_off_at_every_attempt_is_an_error_and_the_others_go_on(engine: LlamaCppEngine) -> None:
    endless = Ask("endless", text("x"), Write(Grammar("endless", 'root ::= [a-z ]{90} "."'), 4, 1.0))
    engine.submit(endless, 0)
    other = engine.submit(ASKS[7], 1)
    retries = engine.stats.retries
    done: list[int] = []
    with pytest.raises(AnswerUnfinished, match="endless"):
        while True:
            done += [ticket for ticket, _ in engine.poll()]
    while not done:
        done += [ticket for ticket, _ in engine.poll()]
    assert done == [other]
    assert engine.stats.retries - retries == 2


def test_an_ask_that_cannot_fit_is_refused_at_once(engine: LlamaCppEngine) -> None:
    with pytest.raises(AskTooLong, match="ask 'place'"):
        engine.submit(Ask("place", text("word " * 600), Choose(("a", "b"))), 0)
    with pytest.raises(AskTooLong):
        engine.submit(Ask("say", text("hello"), Write(SAY, 600)), 0)
    assert engine.poll() == []


def test_a_grammar_that_cannot_be_used_is_refused_at_once(engine: LlamaCppEngine) -> None:
    with pytest.raises(GrammarError):
        engine.submit(Ask("say", text("hello"), Write(Grammar("broken", "root ::= nothing"), 10)), 0)
    assert engine.poll() == []


def test_an_empty_prompt_is_refused(engine: LlamaCppEngine) -> None:
    with pytest.raises(EngineError, match="empty"):
        engine.submit(Ask("say", text(""), Choose(("a", "b"))), 0)


def test_a_channel_needs_a_situation(engine: LlamaCppEngine) -> None:
    with pytest.raises(EngineError, match="no situation"):
        engine.submit(Ask("place", text(TOWN, ""), Choose(("a", "b"), framings=("A: ", "B: "))), 0)


def test_drafts_share_their_prompt(engine: LlamaCppEngine) -> None:
    ask = Ask("say", text(TOWN, "An old friend of hers stops at the door and waves.\n"), Write(SAY, 40, 1.0))
    rows = engine.stats.prefill_rows
    drafts = generate(engine, [(ask, seed) for seed in range(4)])
    assert len({draft.value for draft in drafts}) > 1
    assert sum(draft.tokens.prompt - draft.tokens.reused for draft in drafts) <= drafts[0].tokens.prompt
    assert engine.stats.prefill_rows - rows < 3 * drafts[0].tokens.prompt


def test_the_manifest_names_file_and_rule(engine: LlamaCppEngine, small_model_path: Path) -> None:
    manifest = engine.manifest()
    assert manifest["model"]["sha256"] == hashlib.sha256(small_model_path.read_bytes()).hexdigest()
    assert manifest["model"]["template"] == "chatml"
    assert str(RowRule.parse(manifest["profile"]["row_rule"])) == manifest["profile"]["row_rule"]


def test_wrong_sizes_are_errors_of_ours_not_asserts_in_c(small_model_path: Path) -> None:
    weights = Weights(small_model_path)
    context = Context(weights, lanes=2, cells=256, threads=1, max_rows=64)
    for rows in ([Rows(0, [1] * 65)], [Rows(0, [])], [Rows(0, [weights.n_vocab])], [Rows(0, [-1])], [Rows(2, [1])]):
        with pytest.raises(EngineError):
            context.decode(rows)
    context.decode([Rows(1, [1, 1])])
    context.fill[1] = context.cells  # as if it were full
    with pytest.raises(EngineError, match="lane 1"):
        context.decode([Rows(1, [1])])
    context.close()
    weights.close()


def test_files_that_are_no_model_are_told_apart(tmp_path: Path, small_model_path: Path) -> None:
    with pytest.raises(ModelMissing):
        check_gguf(tmp_path / "none.gguf")
    with small_model_path.open("rb") as file:
        head = file.read(200_000)
    cases = {
        "page.gguf": b"<html>not found</html>" * 9,
        "cut.gguf": head,
        "empty.gguf": b"",
        "zero.gguf": b"GGUF" + b"\0" * 40,
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelCorrupt, match=name):
            Weights(tmp_path / name)


def test_closing_twice_is_fine(small_model_path: Path) -> None:
    engine = LlamaCppEngine(small_model_path, slots=1, threads=1, context_tokens=256, rule="any")
    engine.close()
    engine.close()


def test_a_rule_once_found_is_known(small_model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = Weights(small_model_path)
    rule = known_rule(weights, threads=1)
    monkeypatch.setattr("localville.llm.selftest.find_rule", lambda *_, **__: pytest.fail("found again"))
    assert known_rule(weights, threads=1) == rule
    weights.close()


def test_rules_are_read_as_they_are_written() -> None:
    for name in ("any", "alone", "alone:3", "cold"):
        assert str(RowRule.parse(name)) == name
