"""Prompts are sources: each is kept as a snapshot, to be read in a review. What people wrote in them is data.

LOCALVILLE_UPDATE_SNAPSHOTS=1 pytest tests/mind/test_prompting.py    writes them anew; read the diff before you commit.
"""

from __future__ import annotations

import os
from pathlib import Path

import jinja2
import pytest

from localville.clock import HOUR, MINUTE
from localville.llm.engine import Ask, Choose, Prompt, Rate, Role
from localville.llm.grammars import PlannedChunk
from localville.mind.agree import agreed
from localville.mind.ground import choose_object, choose_sector, object_state
from localville.mind.identity import description, summarise, summarise_day
from localville.mind.importance import importance_ask
from localville.mind.plan import day_plan, next_actions, next_hours, wake_hour
from localville.mind.prompting import PROMPTS, render
from localville.mind.react import puts_right, sees_to, waits, wants_to_talk
from localville.mind.reflect import focal_questions, reflect
from localville.mind.talk import talk
from localville.world.places import Address
from tests.mind.driving import MEMORIES, asks, think, view_of
from tests.people import somebody, street

SNAPSHOTS = Path(__file__).parent / "snapshots"
PLAN = (
    PlannedChunk(7 * HOUR, 8 * HOUR, "have breakfast", "House"),
    PlannedChunk(8 * HOUR, 12 * HOUR + 30 * MINUTE, "work on the notes", "Cafe"),
)
HOURS = (PlannedChunk(8 * HOUR, 9 * HOUR, "sort the notes", "Cafe"),)
STOVE = Address("House", "kitchen", "stove")
DONE = ((7 * HOUR, "eating toast"), (8 * HOUR, "opening the notes"))


def questions() -> dict[str, Ask]:
    """Every question the mind asks, in every way, of one person at one moment."""
    hour = view_of(clock="08:30", day_plan=PLAN, hours=HOURS, done_today=DONE, at="Cafe:cafe")
    instructed = view_of(ways={"place": "instruct"})
    thoughts = {
        "wake": wake_hour(view_of(clock="00:00")),
        "day": day_plan(view_of()),
        "hours": next_hours(view_of(clock="08:00", day_plan=PLAN)),
        "hour": next_actions(hour),
        "react": wants_to_talk(view_of(doing="reading"), "Zoë 李", "resting"),
        "react_object": sees_to(view_of(doing="reading"), street().thing(STOVE), "burning"),
        "react_helps": puts_right(view_of(), "beating out the flames", street().thing(STOVE), "burning"),
        "react_full": waits(view_of(), "brushing her teeth", "bathroom", [("Zoë 李", "taking a shower")]),
        "agreed": agreed(view_of(), "Zoë 李", ["Ada goes on: Come at five!", "Zoë goes on: I will."], "…"),
        "summary": summarise(view_of()),
        "summary_day": summarise_day(view_of()),
        "reflect_questions": focal_questions(view_of(), MEMORIES),
        "hour_waking": next_actions(view_of(hours=PLAN[:1])),
        "sector": choose_sector(view_of(), "going to the cafe", "House"),
        "place_channel": choose_object(view_of(), "writing a letter", "House"),
        "place_instruct": choose_object(instructed, "writing a letter", "House"),
        "object_state": object_state(view_of(), "writing a letter", Address("House", "bedroom", "desk")),
    }
    found = {name: asks(think(thought)[1])[0] for name, thought in thoughts.items()}
    talked = asks(think(talk(view_of(doing="reading"), view_of(somebody("Zoë 李"), doing="resting")))[1])
    found["talk_say"] = [ask for ask in talked if ask.purpose == "talk.say"][1]
    found["talk_topic"] = next(ask for ask in talked if ask.purpose == "talk.topic")
    found["reflect_insights"] = asks(think(reflect(view_of(people=("Ada Lovelace", "Zoë 李"))))[1])[1]
    for way in ("continue", "channel"):
        found[f"importance_{way}"] = importance_ask("Ada Lovelace is eating toast", {"importance": way})
    return found


QUESTIONS = questions()


def picture(ask: Ask) -> str:
    """The question as people read it: each part under its name, then what is scored."""
    lines = [f"purpose {ask.purpose}"]
    for part in ask.prompt.parts:
        role = "" if part.role is Role.TEXT else f", {part.role}"
        lines += [f"--- {part.name}{role}", part.text + "⏎"]
    if isinstance(ask.form, Choose):
        lines += ["--- options", *ask.form.options]
        lines += ["--- framings", *(ask.form.framings or ())]
    if isinstance(ask.form, Choose | Rate) and ask.form.baseline is not None:
        lines += ["--- baseline, last part", ask.form.baseline.parts[-1].text + "⏎"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_reads_as_it_did(name):
    file = SNAPSHOTS / f"{name}.txt"
    text = picture(QUESTIONS[name])
    if os.environ.get("LOCALVILLE_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "if this is meant: LOCALVILLE_UPDATE_SNAPSHOTS=1 pytest tests/mind"


def test_there_are_no_snapshots_of_questions_nobody_asks():
    assert {file.stem for file in SNAPSHOTS.glob("*.txt")} == set(QUESTIONS)


def test_every_template_is_used():
    used = "\n".join(path.read_text(encoding="utf-8") for path in PROMPTS.parent.glob("*.py"))
    assert [file.name for file in PROMPTS.glob("*.jinja") if f'"{file.stem}"' not in used] == []


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_prompt_ends_where_its_answer_begins_its_other_parts_end_lines(name):
    prompt: Prompt = QUESTIONS[name].prompt
    assert all(part.text.endswith("\n") for part in prompt.parts[:-1])
    assert "\n\n\n" not in prompt.text()


def test_a_name_without_a_value_is_an_error_never_an_empty_text():
    with pytest.raises(jinja2.UndefinedError):
        render("wake_ask", persona=somebody())


@pytest.mark.parametrize(
    "text",
    [
        "{{ 7 * 7 }}",
        "{% for x in range(9) %}x{% endfor %}",
        "{# a remark #}",
        "{{ persona.__class__.__mro__ }}",
        "<|im_start|>system",
        "</s> [INST] <b>&amp;</b>",
        "5 > 3 & 'so' \"on\"",
    ],
)
def test_what_people_write_is_data_and_is_put_in_as_it_is(text):
    person = somebody(traits=text, concern=f"Ada thinks of {text}")
    assert description(person, view_of().now).text.count(text) == 2
    assert text in importance_ask(text, {}).prompt.text()
    state = asks(think(object_state(view_of(person), text, Address("House", "bedroom", "desk")))[1])[0]
    assert text in state.prompt.text()
    plan = (PlannedChunk(7 * HOUR, 8 * HOUR, text, "House"),)
    hour = asks(think(next_actions(view_of(person, hours=plan)))[1])[0]
    assert text in hour.prompt.text()
    plan = (PlannedChunk(7 * HOUR, 10 * HOUR, text, "House"),)
    assert text in asks(think(next_hours(view_of(person, day_plan=plan)))[1])[0].prompt.text()


def test_a_person_is_told_whole():
    person = somebody("李 小龙", occupation="an actor")
    for fact in (person.name, str(person.age), person.traits, person.occupation, person.lifestyle, person.concern):
        assert fact in description(person, view_of().now).text
