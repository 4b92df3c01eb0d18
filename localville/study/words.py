"""When two texts say the same, told from their words alone: no model, no embedding, the same answer on every machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from localville.clock import HOUR, MINUTE

SAME_SHARE = 2 / 3
"""Shared content words, of all content words of two texts, from which they say the same; ours: "cleaning the kitchen" and
"cleaning the kitchen table" do, "reading a chapter on history" and "reading a chapter on physics" do not."""

_FILLERS = """a an the his her their its my your our some any more another other again still and or then of on in at to for
with about from by up out off over into one two three four five six seven eight nine ten first second third fourth fifth
next last"""
FILLERS = frozenset(_FILLERS.split())
"""Words that do not make an action another one: "comparing the second formula" is "comparing formula 9"; ours."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def spoken_words(text: str) -> list[str]:
    """All words, in order, without case, digits and punctuation."""
    return _WORD.findall(text.replace("’", "'").casefold())


def content_words(text: str) -> list[str]:
    """The words that say what an action is: no fillers, no numbers, no plural s."""
    words = [word for word in spoken_words(text) if word not in FILLERS]
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words]


def same_action(one: str, other: str) -> bool:
    """Whether two texts are one action in nearly the same words: the same first word, and most of the rest."""
    mine, theirs = content_words(one), content_words(other)
    if not mine or not theirs:
        return one.casefold() == other.casefold()
    shared, all_words = set(mine) & set(theirs), set(mine) | set(theirs)
    return mine[0] == theirs[0] and len(shared) >= SAME_SHARE * len(all_words)


def phrases(utterances: Iterable[str], length: int) -> Counter[tuple[str, ...]]:
    """How often each run of ``length`` words comes; none reaches from one utterance into the next."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in utterances:
        words = spoken_words(text)
        counts.update(tuple(words[i : i + length]) for i in range(len(words) - length + 1))
    return counts


def span_words(seconds: int) -> str:
    """A span of game time as people say it: ``45 min``, ``4 h``, ``1 h 05 min``."""
    hours, rest = divmod(seconds, HOUR)
    minutes = rest // MINUTE
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes:02d} min" if minutes else f"{hours} h"


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
