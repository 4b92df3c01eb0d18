"""Questions: an ask becomes strands, and their results become its answer; one class for each way of answering."""

from __future__ import annotations

from typing import Protocol

from localville.llm.desk import Desk
from localville.llm.engine import Answer, Ask, Choose, Fill, Rate, Write
from localville.llm.scored import Scored
from localville.llm.strands import Strand
from localville.llm.written import Written


class Question(Protocol):
    """One ask on its way."""

    ticket: int
    ask: Ask
    strands: list[Strand]

    def result(self) -> Answer | Strand:
        """Called when all strands are done: the answer, or one more strand to try again with."""
        ...

    def longest(self) -> int:
        """The most tokens a lane must hold."""
        ...


def question(ticket: int, ask: Ask, seed: int, desk: Desk) -> Question:
    """Makes the strands of an ask."""
    match ask.form:
        case Choose() | Rate():
            return Scored(ticket, ask, seed, desk)
        case Write() | Fill():
            return Written(ticket, ask, seed, desk)
