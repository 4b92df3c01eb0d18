"""Which places a text names: "the cafe" is Hobbs Cafe for whoever knows no other cafe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence


def named_sectors(
    text: str, known: Sequence[str], also: Mapping[str, str] | None = None
) -> tuple[tuple[str, ...], str]:
    """The known sectors that a text names, and the text with their full names.

    A sector is named by its whole name or by its last word, if no other known sector has the same, and by the word that
    ``also`` has for it: one's own is home. The full names are
    for questions: a small model copies the name it has just read and finds "the cafe" nowhere (docs/log.md).
    """
    last = Counter(sector.split()[-1].casefold() for sector in known)
    named = []
    for sector in known:
        words = [re.escape(sector)]
        if last[sector.split()[-1].casefold()] == 1:
            words.append(re.escape(sector.split()[-1]))
        if also and sector in also:
            words.append(re.escape(also[sector]))
        pattern = re.compile(rf"\b(?:the )?(?:{'|'.join(words)})\b", re.IGNORECASE)
        text, count = pattern.subn(sector.replace("\\", r"\\"), text)
        if count:
            named.append(sector)
    return tuple(named), text
