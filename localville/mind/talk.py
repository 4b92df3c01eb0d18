"""Dialogue, turn by turn (paper §4.3.2): one thought over two minds.

Each turn is asked with what the speaker knows of the other and with what the speaker's own memory holds about the last
thing said; neither sees the other's memories. A talk ends when one takes leave and the other has answered, when nothing new
is said, or at the cap. Afterwards both remember what it was about, and what mattered most of what was said, in the words in
which it was said and with who told whom, so that news has a source and nothing is made up; and each is asked what it has
agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localville.clock import nearby_days
from localville.llm.bounds import budget
from localville.llm.engine import Ask, Choose, Part, Prompt, Write
from localville.llm.sentences import topic_grammar, utterance_grammar
from localville.mind.agree import agreed
from localville.mind.identity import short_description
from localville.mind.importance import rate
from localville.mind.promise import Promise
from localville.mind.prompting import part, render
from localville.mind.react import known_of
from localville.mind.speech import best_utterance
from localville.mind.thought import Compare, Recall, Thought, View

TEMPERATURE = 0.6
PENALTY = 1.15
TOPIC_DRAFTS = 2
SHORT, LEAVE = 2, 0.7
"""From which utterance on leave becomes likelier, and by how much each time, in log P. Ours: a 1.5B never wants to go."""
GOES_ON, LEAVES = " goes on", " takes leave"
FIRST_LEAVE = 1
"""Utterances before anybody may take leave: who is spoken to may decline to talk."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn; ``speaker`` and ``listener`` are full names."""

    speaker: str
    listener: str
    text: str


@dataclass(frozen=True, slots=True)
class Talked:
    """What a talk came to."""

    about: str
    utterances: tuple[Utterance, ...]
    told: tuple[tuple[str, int], ...]
    """Sentences to remember, with their importance: of the talk itself first."""
    promises: tuple[tuple[str, Promise], ...]
    """By name."""


def talk(one: View, other: View) -> Thought[Talked]:
    """Lets two people talk; ``one`` has begun it."""
    views = (one, other)
    known: list[list[str]] = []
    for speaker, listener in (views, views[::-1]):
        name = speaker.persona.name
        known.append((yield from known_of(speaker, listener.persona.name, one.profile.retrieve_talk, name)))
    said: list[Utterance] = []
    farewells = 0
    for turn in range(one.profile.talk_turns):
        speaker, listener = views[turn % 2], views[1 - turn % 2]
        parts = _context(speaker, listener, known[turn % 2], said)
        recalled: list[str] = []
        if said:
            memories = yield Recall(said[-1].text, one.profile.retrieve_utterance, speaker.persona.name)
            texts = [nearby_days(memory.text, one.now) for memory in memories]
            recalled = [text for text in texts if text not in known[turn % 2]]
        tail = part("situation", "talk_ask", persona=speaker.persona, memories=recalled)
        if turn >= FIRST_LEAVE and not farewells:
            stay = Choose((GOES_ON, LEAVES), temperature=1.0, prior=(0.0, LEAVE * max(0, turn - SHORT)))
            answer = yield Ask("talk.leave", Prompt((*parts, tail)), stay)
            farewells = int(answer.value == LEAVES)
        label = LEAVES if farewells else GOES_ON
        prompt = Prompt((*parts, Part("situation", f"{tail.text}{label}:")))
        grammar = utterance_grammar()
        form = Write(grammar, budget(grammar), TEMPERATURE, repetition_penalty=PENALTY)
        answers = yield (Ask("talk.say", prompt, form),) * one.profile.talk_drafts
        drafts = [str(answer.value).strip() for answer in answers]
        met = any(text == f"talking with {listener.persona.name}" for _, text in speaker.done_today)
        lines = [line.text for line in said]
        minded = [*recalled, nearby_days(speaker.persona.concern, one.now)]
        text, again = yield from best_utterance(
            drafts, speaker.persona, listener.persona, lines, minded, leaving=bool(farewells), met=met
        )
        if again:
            break
        said.append(Utterance(speaker.persona.name, listener.persona.name, text))
        if farewells == 2:
            break
        farewells += bool(farewells)
    about = yield from _topic(views, said)
    sentence = f"{one.persona.name} talked with {other.persona.name} about {about}"
    told = [(sentence, (yield from rate(sentence, one.ways)))]
    told += yield from _told(one, said)
    promises = []
    script = _script(views, said)
    for view, partner in (views, views[::-1]):
        promise = yield from agreed(view, partner.persona.name, script, sentence)
        if promise is not None:
            promises.append((view.persona.name, promise))
    return Talked(about, tuple(said), tuple(told), tuple(promises))


def _context(speaker: View, listener: View, known: Sequence[str], said: Sequence[Utterance]) -> tuple[Part, ...]:
    """What stands before a turn: the most stable first, every line said a part of its own, for reuse."""
    views = (speaker, listener)
    scene = part(
        "situation",
        "talk_scene",
        speaker=speaker.persona,
        listener=listener.persona,
        known=known,
        place=speaker.at.sector,
        date=speaker.now.date_words,
        time=speaker.now.hhmm,
        doing=speaker.doing,
        listener_doing=listener.doing,
    )
    lines = [Part("situation", f"{line}\n") for line in _script(views, said)]
    return (Part("town", render("talk")), short_description(speaker.persona, speaker.now), scene, *lines)


def _script(views: Sequence[View], said: Sequence[Utterance]) -> list[str]:
    names = {view.persona.name: view.persona.first_name for view in views}
    return [f"{names[line.speaker]} goes on: {line.text}" for line in said]


def _topic(views: Sequence[View], said: Sequence[Utterance]) -> Thought[str]:
    """What the talk was about, in a few words: of some drafts the one most like what was said."""
    one, other = (view.persona for view in views)
    script = _script(views, said)
    situation = part("situation", "topic_ask", one=one, other=other, lines=script)
    grammar = topic_grammar()
    prompt = Prompt((Part("town", render("topic")), situation))
    answers = yield (Ask("talk.topic", prompt, Write(grammar, budget(grammar), 0.3)),) * TOPIC_DRAFTS
    drafts = [str(answer.value).strip() for answer in answers]
    likeness = yield Compare(" ".join(line.text for line in said), tuple(drafts))
    return drafts[max(range(len(drafts)), key=lambda number: (likeness[number], -number))]


def _told(one: View, said: Sequence[Utterance]) -> Thought[list[tuple[str, int]]]:
    """What mattered most of what was said, in its own words, with its importance, in the order in which it was said.

    A small model that puts it into other words makes it up: from its example, one told of a lecture nobody had mentioned.
    """
    lines = list(dict.fromkeys(f'{line.speaker} told {line.listener}: "{line.text}"' for line in said))
    rated = []
    for line in lines:
        rated.append((line, (yield from rate(line, one.ways))))
    best = sorted(range(len(rated)), key=lambda number: (-rated[number][1], number))[: one.profile.talk_facts]
    return [rated[number] for number in sorted(best)]
