"""Grammars: what the built ones guarantee, and that every one ends within its budget whatever the model does.

The tests with random logits drive the real tokenizer's masks as the worst possible model would: at random, always by
the longest or the shortest token, and never ending anything that can go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.assets import grammars_dir
from localville.chance import rng
from localville.clock import HOUR, MINUTE
from localville.errors import GrammarError
from localville.llm.bounds import budget, longest_bytes
from localville.llm.constraints import Constraints
from localville.llm.engine import Grammar, Write
from localville.llm.grammars import (
    PlannedAction,
    PlannedChunk,
    day_plan_grammar,
    doing_rules,
    hour_grammar,
    hours_grammar,
    hours_of,
    load_grammar,
    parse_day_plan,
    parse_hour,
    parse_hours,
    parse_object_state,
    phrase_rules,
)
from localville.llm.library import llama_cpp
from localville.llm.walk import walk
from tests.llm.vocabulary import open_vocab

PLACES = ["Isabella's apartment", "Hobbs Cafe", 'Café "Zoë" \\ bar', "日本 庭園", "Pub: back room @ night"]
FILES = sorted(path.stem for path in grammars_dir().glob("*.gbnf"))
DAY = day_plan_grammar(7 * HOUR, 23 * HOUR, PLACES)
EARLY = day_plan_grammar(5 * HOUR + 10 * MINUTE, 24 * HOUR, PLACES[:1], min_chunks=6, max_chunks=10)
FULL_HOUR = hour_grammar(7 * HOUR, 8 * HOUR)
REST = hour_grammar(22 * HOUR + 25 * MINUTE, 23 * HOUR)
BUILT = {
    "day": DAY,
    "early day": EARLY,
    "day in short words": day_plan_grammar(7 * HOUR, 23 * HOUR, PLACES, longest_activity=12),
    "hours": hours_grammar(7 * HOUR + 40 * MINUTE, 11 * HOUR + 10 * MINUTE),
    "hour": FULL_HOUR,
    "hour in five actions": hour_grammar(7 * HOUR, 8 * HOUR, most_actions=5),
    "rest of an hour": REST,
    "hour in short words": hour_grammar(7 * HOUR, 8 * HOUR, longest_action=12),
}
ALL = {**BUILT, **{name: load_grammar(name) for name in FILES}}


def check_day(text: str, wake: int, sleep: int, places: list[str], chunks: range) -> None:
    plan = parse_day_plan(text)
    assert len(plan) in chunks
    assert plan[0].start == wake and plan[-1].end == sleep
    assert all(before.end == after.start for before, after in pairwise(plan))
    assert all(0 < chunk.end - chunk.start <= 4 * HOUR for chunk in plan)
    assert all(chunk.end % (30 * MINUTE) == 0 for chunk in plan[:-1])
    assert all(chunk.place in places for chunk in plan)
    for chunk in plan:
        check_phrase(chunk.activity, 64)


def check_hours(text: str, start: int, end: int) -> None:
    hours = parse_hours(text, "Park")
    assert tuple((hour.start, hour.end) for hour in hours) == hours_of(start, end)
    for hour in hours:
        assert hour.place == "Park"
        check_phrase(hour.activity, 64)


def check_hour(text: str, start: int, end: int, most: int = 12) -> None:
    actions = parse_hour(text)
    assert len(actions) <= most
    assert actions[0].start == start
    assert actions[-1].start + actions[-1].minutes * MINUTE == end
    assert all(action.minutes in (5, 10, 15) for action in actions)
    for before, after in pairwise(actions):
        assert before.start + before.minutes * MINUTE == after.start
    for action in actions:
        check_doing(action.text, 72)


def check_phrase(text: str, longest: int) -> None:
    words = text.replace(",", "").split(" ")
    assert len(words) >= 2 and all(words), text
    assert text[0].islower() and text[0].isascii()
    assert len(text.encode()) <= longest
    assert all(part[0].isalnum() and part[-1].isalnum() for part in words), text


def check_doing(text: str, longest: int) -> None:
    first, *others = text.split(" ")
    assert first.endswith("ing") and len(first) >= 5 and first.isalpha() and first.islower() and first.isascii(), text
    assert len(text.encode()) <= longest
    assert all(word.strip(",") and word[0].isalnum() for word in others), text


def check_state(text: str) -> None:
    state = parse_object_state(text)
    assert 1 <= len(state.split(" ")) <= 4 and state == state.strip() and state.islower() and "\n" not in state


CHECKS: dict[str, Callable[[str], None]] = {
    "day": lambda text: check_day(text, 7 * HOUR, 23 * HOUR, PLACES, range(5, 9)),
    "early day": lambda text: check_day(text, 5 * HOUR + 10 * MINUTE, 24 * HOUR, PLACES[:1], range(6, 11)),
    "hours": lambda text: check_hours(text, 7 * HOUR + 40 * MINUTE, 11 * HOUR + 10 * MINUTE),
    "hour": lambda text: check_hour(text, 7 * HOUR, 8 * HOUR),
    "hour in five actions": lambda text: check_hour(text, 7 * HOUR, 8 * HOUR, most=5),
    "rest of an hour": lambda text: check_hour(text, 22 * HOUR + 25 * MINUTE, 23 * HOUR),
    "object_state": check_state,
}
CHECKS |= {"day in short words": CHECKS["day"], "hour in short words": CHECKS["hour"]}


def test_every_grammar_has_a_check() -> None:
    assert CHECKS.keys() == ALL.keys(), "a new grammar file needs a line in CHECKS"


def test_a_day_plan_is_read_exactly() -> None:
    text = "07:00-08:00 Pub: back room @ night: wake up, have breakfast\n08:00-12:00 日本 庭園: go to Klaus's\n"
    assert parse_day_plan(text) == (
        PlannedChunk(7 * HOUR, 8 * HOUR, "wake up, have breakfast", "Pub: back room @ night"),
        PlannedChunk(8 * HOUR, 12 * HOUR, "go to Klaus's", "日本 庭園"),
    )


def test_an_hour_is_read_exactly() -> None:
    text = "07:00 taking a shower\n07:10 dressing\n07:25 ---\n"
    assert Constraints.for_bytes().fits(Write(hour_grammar(7 * HOUR, 7 * HOUR + 25 * MINUTE), 99), text)
    assert parse_hour(text) == (
        PlannedAction(7 * HOUR, 10, "taking a shower"),
        PlannedAction(7 * HOUR + 10 * MINUTE, 15, "dressing"),
    )


@pytest.mark.parametrize("name", ALL)
def test_every_text_of_a_grammar_parses(name: str) -> None:
    """And the byte matcher agrees that what was written by walking the tree is a text of the grammar."""
    letters = Constraints.for_bytes()
    form = Write(ALL[name], budget(ALL[name]))
    for seed in range(100):
        text = walk(ALL[name], rng(seed))
        CHECKS[name](text)
        assert len(text.encode()) <= longest_bytes(ALL[name])
        assert letters.fits(form, text)


LINE = "09:00-10:00 Hobbs Cafe: {}\n\n"


@pytest.mark.parametrize(
    "phrase", ["have lunch", "meet Zoë at 5, then rest", "buy 2 well-made chairs", "a b", "x" * 9 + " y"]
)
def test_phrases_that_can_be_written(phrase: str) -> None:
    grammar = day_plan_grammar(9 * HOUR, 10 * HOUR, ["Hobbs Cafe"], min_chunks=1)
    assert Constraints.for_bytes().fits(Write(grammar, 99), LINE.format(phrase))


@pytest.mark.parametrize(
    "phrase",
    ["lunch", "Have lunch", "have  lunch", " have lunch", "have lunch ", "have lunch.", "have lunch,", "have ,lunch",
     "have -lunch", "have lunch-", "have\nlunch", "have: lunch", "x" * 32 + " " + "y" * 32, ""],
)  # fmt: skip
def test_phrases_that_cannot(phrase: str) -> None:
    grammar = day_plan_grammar(9 * HOUR, 10 * HOUR, ["Hobbs Cafe"], min_chunks=1)
    assert not Constraints.for_bytes().fits(Write(grammar, 99), LINE.format(phrase))


@pytest.mark.parametrize("doing", ["cooking", "eating Zoë's bread, then resting", "being late", "singing 2 songs"])
def test_activities_that_can_be_told(doing: str) -> None:
    grammar = hour_grammar(9 * HOUR, 9 * HOUR + 5 * MINUTE)
    assert Constraints.for_bytes().fits(Write(grammar, 99), f"09:00 {doing}\n09:05 ---\n")


@pytest.mark.parametrize("doing", ["end", "ing", "king", "cook", "Cooking", "cooking ", "cooking,", "take a ring", ""])
def test_activities_that_cannot(doing: str) -> None:
    grammar = hour_grammar(9 * HOUR, 9 * HOUR + 5 * MINUTE)
    assert not Constraints.for_bytes().fits(Write(grammar, 99), f"09:00 {doing}\n09:05 ---\n")


def test_a_phrase_is_bounded_in_bytes_not_letters() -> None:
    for longest in (3, 4, 5, 10):
        grammar = Grammar("phrase", "\n".join(["root ::= phrase", *phrase_rules(longest)]))
        assert longest_bytes(grammar) == longest
        for seed in range(50):
            check_phrase(walk(grammar, rng(seed)), longest)
    for longest in (8, 9, 12, 20):
        grammar = Grammar("doing", "\n".join(["root ::= doing", *doing_rules(longest)]))
        assert longest_bytes(grammar) == longest
        for seed in range(50):
            check_doing(walk(grammar, rng(seed)), longest)
    for rules, longest in ((phrase_rules, 2), (doing_rules, 7)):
        with pytest.raises(GrammarError):
            rules(longest)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 47), st.integers(1, 48), st.integers(1, 9), st.integers(0, 4), st.integers(0, 2**32))
def test_every_day_is_either_refused_or_filled(wake: int, halves: int, low: int, more: int, seed: int) -> None:
    sleep = min(wake + halves, 48)
    wake, sleep = wake * 30 * MINUTE, sleep * 30 * MINUTE
    fits = any(n * 30 * MINUTE <= sleep - wake <= n * 4 * HOUR for n in range(low, low + more + 1))
    try:
        grammar = day_plan_grammar(wake, sleep, ["Park"], min_chunks=low, max_chunks=low + more, longest_activity=9)
    except GrammarError:
        assert not fits
        return
    assert fits
    check_day(walk(grammar, rng(seed)), wake, sleep, ["Park"], range(low, low + more + 1))


@given(st.integers(0, 287), st.integers(1, 288))
def test_hours_are_those_of_the_clock_and_none_is_short(start: int, end: int) -> None:
    start, end = start * 5 * MINUTE, min(start + end, 288) * 5 * MINUTE
    hours = hours_of(start, end)
    assert (hours[0][0], hours[-1][1]) == (start, end)
    assert all(one[1] == other[0] and one[1] % HOUR == 0 for one, other in pairwise(hours))
    assert len(hours) == 1 or all(30 * MINUTE <= last - first < 90 * MINUTE for first, last in hours)
    assert len(hours) > 1 or end - start < 120 * MINUTE


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 204), min_size=2, max_size=6, unique=True), st.integers(0, 2**32))
def test_fixed_lines_are_in_every_plan(minutes: list[int], seed: int) -> None:
    """Lines from and to any five minutes of a day from six to eleven."""
    edges = sorted(6 * HOUR + minute * 5 * MINUTE for minute in minutes)
    fixed = [PlannedChunk(a, b, "go to the party", PLACES[1]) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    grammar = day_plan_grammar(
        6 * HOUR, 23 * HOUR, PLACES, fixed=fixed, min_chunks=1, max_chunks=8 + 2 * len(fixed), longest_activity=12
    )
    plan = parse_day_plan(walk(grammar, rng(seed)))
    assert [chunk for chunk in plan if chunk.activity == "go to the party"] == fixed
    assert (plan[0].start, plan[-1].end) == (6 * HOUR, 23 * HOUR)
    assert all(before.end == after.start for before, after in pairwise(plan))


@pytest.mark.parametrize(
    "fixed",
    [
        [(5, 7, "eat")], [(22, 24, "eat")], [(9, 9, "eat")], [(9, 11, "eat"), (10, 12, "eat")],
        [(9, 10, "eat: a lot")], [(9, 10, "eat\nmore")],
    ],
)  # fmt: skip
def test_fixed_lines_that_cannot_be_are_refused(fixed: list[tuple[int, int, str]]) -> None:
    chunks = [PlannedChunk(start * HOUR, end * HOUR, text, PLACES[0]) for start, end, text in fixed]
    with pytest.raises(GrammarError):
        day_plan_grammar(6 * HOUR, 23 * HOUR, PLACES, fixed=chunks)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 23 * 12), st.integers(1, 12), st.integers(0, 2**32))
def test_every_span_of_an_hour_is_filled(start: int, steps: int, seed: int) -> None:
    start, end = start * 5 * MINUTE, (start + steps) * 5 * MINUTE
    check_hour(walk(hour_grammar(start, end, longest_action=9), rng(seed)), start, end)


def test_what_no_plan_can_fill_is_refused_with_a_remedy() -> None:
    with pytest.raises(GrammarError, match=r"5 to 8 chunks of 30 to 240 minutes do not fill it\. Change"):
        day_plan_grammar(7 * HOUR, 8 * HOUR, PLACES)
    with pytest.raises(GrammarError, match="07:00 to 07:07: actions of"):
        hour_grammar(7 * HOUR, 7 * HOUR + 7 * MINUTE)
    with pytest.raises(GrammarError, match="07:00 to 08:00: 3 actions of"):
        hour_grammar(7 * HOUR, 8 * HOUR, most_actions=3)
    for wake, sleep in ((8 * HOUR, 7 * HOUR), (7 * HOUR, 25 * HOUR), (7 * HOUR + 1, 23 * HOUR)):
        with pytest.raises(GrammarError, match="within one day"):
            day_plan_grammar(wake, sleep, PLACES)
    for places in ([], ["Park", "Park"], ["Park\nBench"], [""]):
        with pytest.raises(GrammarError):
            day_plan_grammar(7 * HOUR, 23 * HOUR, places)
    for bad in ({"grid_minutes": 0}, {"min_chunks": 0}, {"min_chunks": 9}):
        with pytest.raises(GrammarError, match="no plan has"):
            day_plan_grammar(7 * HOUR, 23 * HOUR, PLACES, **bad)  # type: ignore[arg-type]
    with pytest.raises(GrammarError, match="cannot last"):
        hour_grammar(7 * HOUR, 8 * HOUR, lengths=())


def test_an_unknown_file_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        GrammarError, match=r"grammar 'nonsense': there is no such file\. Known grammars: .*object_state"
    ):
        load_grammar("nonsense")


def test_budgets_are_what_the_readme_says() -> None:
    assert budget(day_plan_grammar(7 * HOUR, 23 * HOUR, ["x" * 32])) <= 900
    assert budget(BUILT["hour in five actions"]) <= 450
    assert budget(load_grammar("object_state")) <= 70


# With a real tokenizer.


class Tokenizer:
    """The small model's vocabulary with what the drivers need to know of each token."""

    def __init__(self, vocab: Any) -> None:
        self.vocab = vocab
        self.constraints = Constraints.for_llama(vocab)
        buffer = ctypes.create_string_buffer(512)
        self.pieces = [
            buffer[: llama_cpp.llama_token_to_piece(vocab, token, buffer, 512, 0, True)]
            for token in range(self.constraints.n_vocab)
        ]
        self.lengths = np.array([len(piece) for piece in self.pieces])
        self.ends = {t for t in range(self.constraints.n_vocab) if llama_cpp.llama_vocab_is_eog(vocab, t)}
        self.stops = np.array([t in self.ends or b"\n" in piece for t, piece in enumerate(self.pieces)])


@pytest.fixture(scope="module")
def tokenizer(small_model_path: Path) -> Iterator[Tokenizer]:
    with open_vocab(small_model_path) as vocab:
        yield Tokenizer(vocab)


Picker = Callable[[np.ndarray, np.random.Generator, Tokenizer], int]


def anything(allowed: np.ndarray, draw: np.random.Generator, _: Tokenizer) -> int:
    return int(allowed[draw.integers(len(allowed))])


def longest(allowed: np.ndarray, draw: np.random.Generator, tokenizer: Tokenizer) -> int:
    lengths = tokenizer.lengths[allowed]
    return anything(allowed[lengths == lengths.max()], draw, tokenizer)


def shortest(allowed: np.ndarray, draw: np.random.Generator, tokenizer: Tokenizer) -> int:
    lengths = tokenizer.lengths[allowed]
    return anything(allowed[lengths == lengths.min()], draw, tokenizer)


def never_ending(allowed: np.ndarray, draw: np.random.Generator, tokenizer: Tokenizer) -> int:
    going_on = allowed[~tokenizer.stops[allowed]]
    return anything(going_on if len(going_on) else allowed, draw, tokenizer)


def never_ending_bytes(allowed: np.ndarray, draw: np.random.Generator, tokenizer: Tokenizer) -> int:
    going_on = allowed[~tokenizer.stops[allowed]]
    return shortest(going_on if len(going_on) else allowed, draw, tokenizer)


def drive(tokenizer: Tokenizer, form: Write, pick: Picker, seed: int, *, jump: bool = False) -> str:
    """Answers as an engine would, and fails where an engine would fail; ``jump``: takes forced tokens as they are."""
    matcher, draw, written = tokenizer.constraints.matcher(form), rng(seed), []
    while not matcher.done():
        assert len(written) < form.max_tokens, "the budget does not suffice"
        forced = matcher.forced() if jump else []
        tokens = forced or [pick(np.flatnonzero(matcher.mask()), draw, tokenizer)]
        if tokens[0] in tokenizer.ends:
            assert matcher.accepting()
            break
        for token in tokens:
            matcher.commit(token)
            written.append(token)
    return b"".join(tokenizer.pieces[token] for token in written).decode()


SEEDS = {"day": 40, "early day": 15, "hour": 40, "rest of an hour": 60}
"""Fewer than 500 where a twin in short words has the same state machine and takes a tenth of the time."""


@pytest.mark.model
@pytest.mark.parametrize("name", ALL)
def test_random_logits_give_a_valid_answer_within_the_budget(name: str, tokenizer: Tokenizer) -> None:
    form = Write(ALL[name], budget(ALL[name]))
    for seed in range(SEEDS.get(name, 500)):
        CHECKS[name](drive(tokenizer, form, anything, seed, jump=seed % 5 != 0))


@pytest.mark.model
@pytest.mark.parametrize("pick", [longest, shortest, never_ending, never_ending_bytes])
@pytest.mark.parametrize("name", ALL)
def test_no_bias_breaks_a_grammar(name: str, pick: Picker, tokenizer: Tokenizer) -> None:
    form = Write(ALL[name], budget(ALL[name]))
    for seed in range(2):
        CHECKS[name](drive(tokenizer, form, pick, seed))


@pytest.mark.model
@pytest.mark.parametrize("name", ALL)
def test_llama_cpp_reads_the_grammar_the_same_way(name: str, tokenizer: Tokenizer) -> None:
    """The slow twin: llama.cpp's own grammar sampler allows the same tokens, step by step through an answer."""
    grammar, form = ALL[name], Write(ALL[name], budget(ALL[name]))
    sampler = llama_cpp.llama_sampler_init_grammar(tokenizer.vocab, grammar.gbnf.encode(), b"root")
    assert sampler, "llama.cpp cannot read the grammar"
    size = tokenizer.constraints.n_vocab
    data = (llama_cpp.llama_token_data * size)()
    array = llama_cpp.llama_token_data_array(data, size, -1, False)
    view = np.ctypeslib.as_array(data)
    matcher, draw = tokenizer.constraints.matcher(form), rng(5)
    for step in range(30):
        view["id"], view["logit"] = np.arange(size), 0.0
        llama_cpp.llama_sampler_apply(sampler, array)
        mask, llama = matcher.mask(), np.isfinite(view["logit"])
        # Where the text is forced, llguidance allows only its usual spelling, llama.cpp any.
        differing = np.flatnonzero(mask & ~llama if matcher.forced() else mask != llama)
        assert len(differing) == 0, f"step {step}: {[tokenizer.pieces[token] for token in differing[:9]]}"
        token = anything(np.flatnonzero(mask), draw, tokenizer)
        if token in tokenizer.ends:
            break
        matcher.commit(token)
        llama_cpp.llama_sampler_accept(sampler, token)
    llama_cpp.llama_sampler_free(sampler)
