"""The better of several drafts of an utterance: what is silly in speech can be told without a model (as in drafts.py).

Seen of a 1.5B: it hopes, to his face, to see Klaus Mueller today; it greets again in the fifth line; it says goodbye and
goes on; it says what was said before; it says what the people of the worked examples said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localville.config import Persona
from localville.mind.thought import Compare, Thought

SAME = 0.85
"""Cosine from which an utterance says what was said before; so does one that repeats four words in a row. Ours."""
SAID_AGAIN = 3
"""Faults."""
PHRASE = 4
"""Words in a row that nobody repeats by chance."""

GREETING = re.compile(r"^(hey|hi|hello|good (morning|afternoon|evening))\b", re.IGNORECASE)
FAREWELL = re.compile(r"\b(good ?bye|bye|see you|take care|good night|talk to you later)\b", re.IGNORECASE)
STRANGERS = re.compile(r"\b(Nadia|Bruno|Oskar|Lena|Ruth|Emil)\b")
"""The people of the worked examples (prompts/talk.jinja)."""


def best_utterance(
    drafts: Sequence[str],
    speaker: Persona,
    listener: Persona,
    said: Sequence[str],
    minded: Sequence[str],
    *,
    leaving: bool,
    met: bool,
) -> Thought[tuple[str, bool]]:
    """Takes the draft with the fewest faults, of equals the one most like what the speaker has in mind, then the first.

    Says too whether even that was said before. ``said``: the talk so far; ``minded``: the memories put before this turn: of
    three first lines a 1.5B writes, one tells the news, the others ask how one is. ``met``: whether the two have talked
    today already.
    """
    found = []
    for draft in drafts:
        likeness = yield Compare(draft, (*said, *minded))
        again = max(likeness[: len(said)], default=0.0) >= SAME or repeats(draft, said)
        faults = faults_of(draft, speaker, listener, said, leaving=leaving, met=met)
        found.append((faults + SAID_AGAIN * again, -max(likeness[len(said) :], default=0.0), again))
    best = min(range(len(drafts)), key=lambda number: (*found[number][:2], number))
    return drafts[best], found[best][2]


def faults_of(
    text: str, speaker: Persona, listener: Persona, said: Sequence[str], *, leaving: bool, met: bool = False
) -> int:
    """Counts what people don't do when they talk to each other."""
    own = speaker.name != speaker.first_name and speaker.name in text
    names = own + (
        (listener.name != listener.first_name and listener.name in text) or text.count(listener.first_name) > 1
    )
    known = {speaker.first_name, listener.first_name}
    strangers = any(match.group() not in known for match in STRANGERS.finditer(text))
    greets = bool(GREETING.search(text)) and (met or len(said) > 1)
    parts = bool(FAREWELL.search(text)) and not leaving
    asks = leaving and text.endswith("?")
    return sum((names, strangers, greets, parts, asks, repeats(text, said)))


def repeats(text: str, said: Sequence[str]) -> bool:
    """Whether four words in a row were said before, in the talk or in the very text."""
    earlier = {phrase for line in said for phrase in _phrases(line)}
    mine = _phrases(text)
    return bool(earlier.intersection(mine)) or len(set(mine)) < len(mine)


def _phrases(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[\w'-]+", text.casefold())
    return [tuple(words[at : at + PHRASE]) for at in range(len(words) - PHRASE + 1)]
