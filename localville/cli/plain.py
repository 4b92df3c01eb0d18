"""Text for a terminal: what people or models wrote must not steer it."""

from __future__ import annotations


def printable(text: str) -> str:
    """Replaces control characters (escape sequences, carriage returns) so that a text is shown, never obeyed."""
    return "".join(
        char if char.isprintable() or char in "\n\u200d\ufe0f" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
