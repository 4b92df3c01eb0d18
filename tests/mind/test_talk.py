"""Talks end, are remembered by both, and leave promises that can be kept, whatever is said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localville.chance import rng
from localville.clock import DAY, HOUR, MINUTE
from localville.llm.engine import Ask, Write
from localville.llm.scripted import ScriptedEngine
from localville.llm.sentences import topic_grammar, utterance_grammar
from localville.llm.walk import walk
from localville.memory.stream import Memory, MemoryKind
from localville.mind.agree import TODAY, TOMORROW, agreed, meeting_grammar, parse_meeting
from localville.mind.react import NO, YES, known_of, wants_to_talk
from localville.mind.talk import GOES_ON, LEAVES, talk
from localville.mind.thought import Recall, View
from tests.mind.driving import MEMORIES, asks, think, view_of, wild
from tests.people import somebody

ADA, ZOE = somebody("Ada Lovelace"), somebody("Zoë 李", known_places=("Lawn",))
SEEDS = st.integers(0, 2**32)


def both(clock: str = "10:00") -> tuple[View, View]:
    return view_of(ADA, clock=clock, doing="reading"), view_of(ZOE, clock=clock, doing="resting")


@pytest.mark.parametrize("seed", range(15))
def test_whatever_is_said_a_talk_ends_and_is_remembered(seed: int) -> None:
    one, other = both()
    talked, wanted = think(talk(one, other), wild(), seed)
    assert 1 <= len(talked.utterances) <= one.profile.talk_turns
    speakers = [line.speaker for line in talked.utterances]
    assert speakers == [(ADA.name, ZOE.name)[turn % 2] for turn in range(len(speakers))]
    for line in talked.utterances:
        assert "\n" not in line.text and ":" not in line.text and re.search(r"[.!?]$", line.text)
    first, *told = [sentence for sentence, _ in talked.told]
    assert first == f"Ada Lovelace talked with Zoë 李 about {talked.about}"
    quotes = [f'{line.speaker} told {line.listener}: "{line.text}"' for line in talked.utterances]
    assert 1 <= len(told) <= one.profile.talk_facts
    assert [quote for quote in dict.fromkeys(quotes) if quote in told] == told
    assert all(1 <= importance <= 10 for _, importance in talked.told)
    for name, promise in talked.promises:
        view = one if name == ADA.name else other
        assert promise.place in view.tree.sectors()
        assert promise.date in ("2023-02-13", "2023-02-14")
        assert 0 <= promise.start < promise.end <= DAY
        assert promise.date == "2023-02-14" or promise.start > one.now.second_of_day
    assert {request.agent for request in wanted if isinstance(request, Recall)} <= {ADA.name, ZOE.name}


def test_neither_reads_the_others_mind() -> None:
    one, other = both()
    _, wanted = think(talk(one, other), wild())
    turns = [ask for ask in asks(wanted) if ask.purpose == "talk.say"][:: one.profile.talk_drafts]
    for turn, ask in enumerate(turns):
        me, you = (ADA, ZOE) if turn % 2 == 0 else (ZOE, ADA)
        assert f"Name: {me.name}" in ask.prompt.text()
        assert f"Name: {you.name}" not in ask.prompt.text()


def test_who_takes_leave_is_answered_once() -> None:
    engine = ScriptedEngine({"talk.leave": LEAVES})
    talked, wanted = think(talk(*both()), engine)
    assert len(talked.utterances) == 3
    assert len([ask for ask in asks(wanted) if ask.purpose == "talk.leave"]) == 1


def test_what_was_said_before_ends_it() -> None:
    engine = ScriptedEngine({"talk.say": "Good morning to you.\n", "talk.leave": " goes on"})
    assert [line.text for line in think(talk(*both()), engine)[0].utterances] == ["Good morning to you."]


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_speech_is_one_or_two_sentences(seed: int) -> None:
    text = walk(utterance_grammar(), rng(seed))
    assert text.endswith("\n") and text.count("\n") == 1
    assert 1 <= len(re.findall(r"[.!?](?= |\n)", text)) <= 2


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_a_topic_is_a_few_words(seed: int) -> None:
    text = walk(topic_grammar(), rng(seed))
    assert re.fullmatch(r" [^\n]{1,63}\n", text)


def test_what_mattered_most_is_remembered_in_its_words() -> None:
    said = iter(["Hello there.\n", "I want to be king.\n", "That is news.\n", "So it is.\n"] * 2)
    lines: dict[str, str] = {}

    def say(ask: Ask, dice: object) -> str:
        if ask.prompt.key not in lines:
            lines[ask.prompt.key] = next(said)
        return lines[ask.prompt.key]

    def rate(ask: Ask, dice: object) -> int:
        return 9 if "king" in ask.prompt.text() else 2

    script = {"talk.say": say, "importance": rate, "talk.leave": GOES_ON}
    talked, _ = think(talk(*both()), ScriptedEngine(script))
    assert ('Zoë 李 told Ada Lovelace: "I want to be king."', 9) in talked.told


@settings(deadline=None, max_examples=40)
@given(st.integers(12, 47), SEEDS)
def test_meetings_are_read_exactly(half_hour: int, seed: int) -> None:
    starts = [half_hour * 30 * MINUTE]
    grammar = meeting_grammar({TODAY: starts, TOMORROW: [0]}, ("Café: at 5 to 7", "Park from 5"))
    day, start, end, place, activity = parse_meeting(walk(grammar, rng(seed)))
    assert start in (starts if day == TODAY else [0])
    assert start < end <= min(start + 3 * HOUR, DAY)
    assert place in ("Café: at 5 to 7", "Park from 5")
    assert activity.strip()


def test_late_at_night_nothing_can_be_agreed_for_today() -> None:
    engine = ScriptedEngine({"agreed": YES})
    for clock, days in (("23:40", {TOMORROW}), ("10:00", {TODAY, TOMORROW})):
        _, wanted = think(
            agreed(view_of(ADA, clock=clock), ZOE.name, ["Zoë goes on: Hello, see you tomorrow."], "…"), engine
        )
        form = asks(wanted)[1].form
        assert isinstance(form, Write)
        assert {day for day in (TODAY, TOMORROW) if f'"{day} from "' in form.grammar.gbnf} == days


def test_who_speaks_of_no_time_agrees_to_nothing() -> None:
    assert think(agreed(view_of(ADA), ZOE.name, ["Zoë goes on: I would love to, some day."], "…")) == (None, [])


def test_nothing_agreed_is_no_promise() -> None:
    engine = ScriptedEngine({"agreed": NO})
    promise, wanted = think(agreed(view_of(ADA), ZOE.name, ["Zoë goes on: Hello, see you tomorrow."], "…"), engine)
    assert (promise, len(asks(wanted))) == (None, 1)


def test_what_was_agreed_names_whom_it_is_with() -> None:
    engine = ScriptedEngine(
        {"agreed": YES, "agreed.when": "tomorrow from 17:00 to 19:00 at Cafe: celebrate the party\n"}
    )
    promise, _ = think(agreed(view_of(ADA), ZOE.name, ["Zoë goes on: Come to my party at five."], "a talk"), engine)
    assert promise is not None
    assert (promise.date, promise.start, promise.end) == ("2023-02-14", 17 * HOUR, 19 * HOUR)
    assert (promise.place, promise.activity, promise.source) == ("Cafe", "celebrate the party with Zoë 李", "a talk")


@pytest.mark.parametrize(("said", "talks"), [(NO, False), (YES, True)])
def test_to_turn_to_somebody_is_a_choice(said: str, talks: bool) -> None:
    decided, wanted = think(
        wants_to_talk(view_of(ADA, doing="reading"), ZOE.name, "resting"), ScriptedEngine({"react": said})
    )
    assert decided is talks
    assert [request.query for request in wanted if isinstance(request, Recall)] == [
        "Ada Lovelace's relationship with Zoë 李",
        "Zoë 李 is resting",
    ]
    (ask,) = [request for request in wanted if isinstance(request, Ask)]
    assert ask.prompt.text().endswith(
        "Ada is reading, Zoë 李 is resting. Zoë 李 told Ada Lovelace of a party. Do they talk?"
    )


def test_to_have_seen_somebody_is_not_to_know_them() -> None:
    seen = Memory(5, MemoryKind.OBSERVATION, "Tom Moreno is walking by", MEMORIES[0].created, MEMORIES[0].created, 1)
    thought = known_of(view_of(ADA), "Tom Moreno", 5)
    assert isinstance(next(thought), Recall)
    with pytest.raises(StopIteration) as told:
        thought.send((*MEMORIES, seen))
    assert told.value.value == ["Ada Lovelace does not know Tom Moreno"]
