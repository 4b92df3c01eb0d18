"""Grammars of what an agent concludes and says: questions, insights, summaries, speech; each beside its parser.

Every line names whom it is about, by grammar: a memory text without a subject is found badly and told of the wrong person.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from localville.errors import GrammarError
from localville.llm.engine import Grammar
from localville.llm.gbnf import quote
from localville.llm.grammars import ACTION_BYTES, doing_rules, phrase_rules

QUESTION_BYTES = 80
INSIGHT_BYTES = 110
"""Longest insight behind its subject; the paper's example, "is dedicated to his research on gentrification", has 46."""
SUMMARY_BYTES = 160
SENTENCE_BYTES = 130
"""Longest sentence of speech, about 25 words; people speak some 17 a turn."""
TOPIC_BYTES = 64
MOST_EVIDENCE = 4
"""Statements that one insight may cite; the paper's example cites four."""
QUESTION_WORDS = ("What", "Who", "Why", "How", "Which", "Where")


class Insight(NamedTuple):
    """A conclusion and the numbers of the statements it rests on, rising, counted from 1."""

    text: str
    evidence: tuple[int, ...]


def questions_grammar(count: int, *, longest: int = QUESTION_BYTES) -> Grammar:
    """``count`` questions as lines ``1. What matters to Klaus Mueller?``; a blank line closes them."""
    if count < 1:
        raise GrammarError(f"{count} questions cannot be asked")
    lines = [f'"{number}. " question' for number in range(1, count + 1)]
    root = ' "\\n" '.join(lines)
    words = " | ".join(quote(word) for word in QUESTION_WORDS)
    rules = [f'root ::= {root} "\\n\\n"', f'question ::= ({words}) " " phrase "?"', *phrase_rules(longest)]
    return Grammar("questions", "\n".join([*rules, ""]))


def parse_questions(text: str) -> tuple[str, ...]:
    """Reads a text of ``questions_grammar``."""
    return tuple(line.partition(". ")[2] for line in text.rstrip("\n").split("\n"))


def insights_grammar(
    subjects: Sequence[str],
    statements: int,
    most: int,
    *,
    most_evidence: int = MOST_EVIDENCE,
    longest: int = INSIGHT_BYTES,
) -> Grammar:
    """One to ``most`` insights as lines ``Klaus Mueller is dedicated to his research (1, 4)``; a blank line closes them.

    Each begins with one of ``subjects`` and cites one to ``most_evidence`` of the statements 1 to ``statements``, rising.
    """
    if not subjects or statements < 1 or most < 1 or most_evidence < 1:
        raise GrammarError("an insight needs a subject and a statement to rest on")
    rules = ["root ::= i1", f"subject ::= {' | '.join(quote(name) for name in subjects)}"]
    for number in range(1, most + 1):
        more = f'("\\n" i{number + 1} | "\\n\\n")' if number < most else '"\\n\\n"'
        rules.append(f'i{number} ::= subject " " phrase " (" cited ")" {more}')
    rules.append("cited ::= " + " | ".join(f"e{number}-1" for number in range(1, statements + 1)))
    # eK-D stands where statement K is cited as the D-th.
    for number in range(1, statements + 1):
        for place in range(1, min(number, most_evidence) + 1):
            later = range(number + 1, statements + 1) if place < most_evidence else ()
            ways = "".join(f' | ", " e{other}-{place + 1}' for other in later)
            rules.append(f'e{number}-{place} ::= "{number}" (""{ways})')
    return Grammar("insights", "\n".join([*rules, *phrase_rules(longest), ""]))


def parse_insights(text: str) -> tuple[Insight, ...]:
    """Reads a text of ``insights_grammar``."""
    found = []
    for line in text.rstrip("\n").split("\n"):
        # The last bracket is the right one: a name may hold one, a phrase none.
        said, _, cited = line.removesuffix(")").rpartition(" (")
        found.append(Insight(said, tuple(int(number) for number in cited.split(", "))))
    return tuple(found)


def summary_grammar(opening: str, *, longest: int = SUMMARY_BYTES) -> Grammar:
    """One sentence that begins with ``opening``, as ``Klaus Mueller is …``, up to the line's end."""
    if not opening.strip():
        raise GrammarError("a summary must say whom it is about")
    return Grammar("summary", "\n".join([f'root ::= {quote(opening + " ")} phrase "\\n"', *phrase_rules(longest), ""]))


def utterance_grammar(*, longest: int = SENTENCE_BYTES, sentences: int = 2) -> Grammar:
    """What somebody says: one to ``sentences`` sentences of two words or more, each closed by a mark, up to the line's end.

    No quotes, brackets, colons or line ends: speech is data for whoever reads it later.
    """
    if sentences < 1:
        raise GrammarError(f"{sentences} sentences say nothing")
    rules = [f'root ::= {" ".join(["said"] + ["more" for _ in range(sentences - 1)])} "\\n"', 'more ::= "" | " " said']
    rules += [f"said ::= [A-ZÀ-Ö] p{longest - 3} [.!?]"]
    later = [rule for rule in phrase_rules(longest) if rule.startswith("p") and not rule.startswith("phrase")]
    return Grammar("utterance", "\n".join([*rules, *later, ""]))


def response_grammar(lengths: Sequence[int], *, longest: int = ACTION_BYTES) -> Grammar:
    """What somebody does at once about something, and for how long: `` turning off the stove (5 minutes)``.

    ``lengths``: the minutes it may take. The blank in front belongs to the text, as a continuation of "sees to it:".
    """
    if not lengths:
        raise GrammarError("what is done takes some time")
    minutes = " | ".join(quote(str(length)) for length in sorted(set(lengths)))
    root = f'root ::= " " doing " (" ({minutes}) " minutes)\\n"'
    return Grammar("response", "\n".join([root, *doing_rules(longest), ""]))


def parse_response(text: str) -> tuple[str, int]:
    """Reads a text of ``response_grammar``: the activity and its minutes."""
    doing, _, minutes = text.strip().removesuffix(" minutes)").rpartition(" (")
    return doing, int(minutes)


def topic_grammar(*, longest: int = TOPIC_BYTES) -> Grammar:
    """What a talk was about, in a few words up to the line's end: `` swimming together before the race``."""
    return Grammar("topic", "\n".join(['root ::= " " phrase "\\n"', *phrase_rules(longest), ""]))
