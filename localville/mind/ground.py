"""Grounding: an action gets an object of the agent's own place tree, the object a state, the action an emoji (paper §5.1).

The sector is the plan's, unless the action names another one that the agent knows: "going back to the cafe" in the park is
one question more. Within the sector the objects that the agent knows are the options; embeddings shortlist three (the
right one was always among them, ENGINE §5), then the model decides, by the model's measured way:

    channel    the activity is scored under each object: P(activity | at the coffee machine, for making coffee)
    instruct   the objects are scored as the answer to the question where the activity is best done
"""

from __future__ import annotations

from localville.llm.engine import Ask, Choose, Part, Prompt, Write
from localville.llm.grammars import load_grammar, parse_object_state
from localville.mind.emoji import EMOJI, SLEEP_EMOJI
from localville.mind.naming import named_sectors
from localville.mind.plan import SLEEPING
from localville.mind.prompting import part, render
from localville.mind.thought import Action, Compare, Thought, View
from localville.world.places import Address, Thing
from localville.world.residents import bed_of

SHORTLIST = 3
MARGIN = 0.3
"""In cosine: what is so much less like the activity than the best is no option. Of 105 choices between three objects put
to the 1.5B it decided 17, always as the model had (docs/log.md)."""
LIKENESS_WEIGHT = 12.0
"""What a cosine of 1 is worth in log P; ours. With 6 a 1.5B has breakfast in bed and reads in the
shower, with 20 embeddings alone decide (docs/log.md)."""
STAY_BONUS = 1.0
"""In log P, for the arena the agent stands in: the paper prefers the current area (§5.1)."""
STATE_TOKENS = 64


def ground(view: View, text: str, sector: str, start: int, end: int) -> Thought[Action]:
    """Finds where and with what an activity is done and what it does to the object."""
    sector = yield from choose_sector(view, text, sector)
    address = yield from choose_object(view, text, sector)
    state = yield from object_state(view, text, address)
    emoji = yield from choose_emoji(text)
    return Action(start, end, text, address, state, emoji)


def asleep(view: View, start: int, end: int) -> Action:
    """The night: no question is asked for it."""
    bed = bed_of(view.town, view.persona.home, view.persona.name)
    return Action(start, end, SLEEPING, bed.address, "occupied", SLEEP_EMOJI)


def choose_sector(view: View, text: str, planned: str) -> Thought[str]:
    """Keeps to the planned sector; if the activity names others that the agent knows, the model says which it means."""
    home = bed_of(view.town, view.persona.home, view.persona.name).address.sector
    names, spelled = named_sectors(text, view.tree.sectors(), {home: "home"})
    named = [sector for sector in names if sector != planned]
    if not named:
        return planned
    situation = part("situation", "sector_ask", persona=view.persona, place=planned, text=spelled)
    options = (planned, *named)
    form = Choose(tuple(f" {sector}" for sector in options), per_token=True)
    answer = yield Ask("sector", Prompt((Part("task", render("sector")), situation)), form)
    return options[form.options.index(answer.value)]


def choose_object(view: View, text: str, sector: str) -> Thought[Address]:
    """Chooses an object of the sector among those the agent knows."""
    things = known_things(view, sector)
    if len(things) > SHORTLIST:
        likeness = yield Compare(text, tuple(_described(thing) for thing in things))
        order = sorted(range(len(things)), key=lambda i: (-likeness[i], i))[:SHORTLIST]
        order = [i for i in order if likeness[i] >= likeness[order[0]] - MARGIN]
        things, likeness = [things[i] for i in order], [likeness[i] for i in order]
    else:
        likeness = [0.0] * len(things)
    if len(things) == 1:
        return things[0].address
    here = [STAY_BONUS if thing.address.parent == view.at else 0.0 for thing in things]
    prior = tuple(LIKENESS_WEIGHT * like + stay for like, stay in zip(likeness, here, strict=True))
    options = tuple(str(thing.address) for thing in things)
    if view.ways.get("place") == "instruct":
        places = [
            {"address": option, "affords": thing.affords, "state": view.tree.state(thing.address)}
            for option, thing in zip(options, things, strict=True)
        ]
        prompt = Prompt((part("situation", "place_ask", places=places, text=text),))
        form = Choose(tuple(f" {option}" for option in options), prior=prior, per_token=True)
    else:
        framings = tuple(render("place_framing", thing=thing, state=view.tree.state(thing.address)) for thing in things)
        prompt = Prompt((Part("situation", f" {text}\n"),))
        form = Choose(options, framings=framings, prior=prior)
    answer = yield Ask("place", prompt, form)
    return things[form.options.index(answer.value)].address


def object_state(view: View, text: str, address: Address) -> Thought[str]:
    """Asks what an object is like while it is used so."""
    situation = part("situation", "object_state_ask", persona=view.persona, text=text, thing=address.object)
    prompt = Prompt((Part("task", render("object_state")), situation))
    answer = yield Ask("object_state", prompt, Write(load_grammar("object_state"), STATE_TOKENS))
    return parse_object_state(answer.value)


def choose_emoji(text: str) -> Thought[str]:
    """Takes the emoji whose meaning is most like the activity; one whole grapheme cluster."""
    likeness = yield Compare(text, tuple(EMOJI.values()))
    return list(EMOJI)[max(range(len(likeness)), key=lambda i: (likeness[i], -i))]


def known_things(view: View, sector: str) -> list[Thing]:
    """The objects of a sector that the agent knows, in map order; all of its objects if it knows none of them yet.

    Those of a room just found full are left out while there are others.
    """
    known = [
        view.town.thing(Address(sector, arena, name))
        for arena in view.tree.arenas(sector)
        for name in view.tree.objects(sector, arena)
    ]
    known = known or [thing for arena in view.town.sector(Address(sector)).arenas for thing in arena.things]
    return [thing for thing in known if thing.address.parent not in view.avoids] or known


def _described(thing: Thing) -> str:
    return f"{thing.affords} at the {thing.name}" if thing.affords else f"using the {thing.name}"
