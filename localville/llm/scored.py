"""Scored questions: choices and ratings as strands that read, and the arithmetic from what they find to the answer.

    plain     one strand for each tail of the options' tree (one for the prompt alone if there is none)
    channel   one strand a framing, reading the situation behind it

Scores that are a function of the model and a constant text alone (baselines, anchors) are remembered: that they were
asked before changes the work, never an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from localville.chance import rng
from localville.errors import EngineError
from localville.llm.chat import blocks, framed
from localville.llm.desk import Desk, Key, Scores
from localville.llm.engine import Answer, Ask, Choose, Prompt, Rate, Role, Tokens
from localville.llm.scoring import OptionTree, choose, neighbours, on_scale, probabilities, rate
from localville.llm.slots import Prefix
from localville.llm.strands import Scoring, Strand


class Scored:
    """A choice or a rating. Its methods make strands and return functions that read off their results when done."""

    def __init__(self, ticket: int, ask: Ask, seed: int, desk: Desk) -> None:
        assert isinstance(ask.form, Choose | Rate)
        self.ticket, self.ask = ticket, ask
        self._seed, self._desk = seed, desk
        self.strands: list[Strand] = []
        self._longest = 0
        self._prompt_tokens = 0
        self._constant: set[int] = set()
        """Numbers of the strands that read baselines and anchors."""
        self._answer = self._choice(ask.form) if isinstance(ask.form, Choose) else self._rating(ask.form)
        _hold_shared(self.strands)

    def longest(self) -> int:
        return self._longest

    def result(self) -> Answer:
        answer = self._answer()
        own = [strand for number, strand in enumerate(self.strands) if number not in self._constant]
        read = sum(strand.prefilled + _tail(strand) for strand in own)
        # A prefix that strands share is counted once, but may have been read again if it could not be kept.
        return replace(answer, tokens=Tokens(self._prompt_tokens, max(self._prompt_tokens - read, 0)))

    def _choice(self, form: Choose) -> Callable[[], Answer]:
        if form.framings is not None:
            read = self._framings(form.framings, per_token=form.per_token)
        else:
            read = self._corrected(self.ask.prompt, form.options, form.baseline, per_token=form.per_token)
        prior = np.array(form.prior or (0.0,) * len(form.options))

        def answer() -> Answer:
            scores = read() + prior
            shares = probabilities(scores, form.temperature)
            index = choose(shares, form.temperature, rng(self._seed))
            return Answer(form.options[index], tuple(shares.tolist()), tuple(scores.tolist()))

        return answer

    def _rating(self, form: Rate) -> Callable[[], Answer]:
        if form.dull:
            score = self._contrast(self.ask.prompt, form)
            anchors = [(self._anchor(text, form), rating) for text, rating in form.anchors]

            def channel() -> Answer:
                value = on_scale(score(), [(read(), rating) for read, rating in anchors], form.low, form.high)
                shares = neighbours(value, form.low, form.high)
                rated = rate(shares, form.low, form.temperature, rng(self._seed))
                return Answer(rated, tuple(shares.tolist()), (score(),))

            return channel
        read = self._corrected(self.ask.prompt, _numbers(self.ask.prompt, form), form.baseline)

        def plain() -> Answer:
            scores = read()
            shares = probabilities(scores, form.temperature)
            rated = rate(shares, form.low, form.temperature, rng(self._seed))
            return Answer(rated, tuple(shares.tolist()), tuple(scores.tolist()))

        return plain

    def _corrected(
        self, prompt: Prompt, options: tuple[str, ...], baseline: Prompt | None, *, per_token: bool = False
    ) -> Callable[[], Scores]:
        """The options' scores behind a prompt, less those behind its content-free twin."""
        plain = self._options(prompt, options, per_token=per_token)
        if baseline is None:
            return plain
        key = ("options", baseline.key, options, per_token)
        base = self._memoised(key, lambda: self._options(baseline, options, per_token=per_token))
        return lambda: plain() - base()

    def _framings(self, framings: tuple[str, ...], *, per_token: bool) -> Callable[[], Scores]:
        channels = [self._channel(self.ask.prompt, framing, per_token=per_token) for framing in framings]
        return lambda: np.array([channel() for channel in channels])

    def _options(self, prompt: Prompt, options: tuple[str, ...], *, per_token: bool = False) -> Callable[[], Scores]:
        """Reads the tree of the options behind a prompt; the function returned tells their scores."""
        prefix = self._desk.prefix(blocks(prompt, self._desk.template))
        tree = OptionTree.of([self._desk.weights.tokens(option) for option in options])
        paths = [[tail[:depth] for depth in range(len(tail) + 1)] for tail in tree.tails or ((),)]
        strands = [self._strand(prefix, path[-1], tuple(tree.children[node] for node in path)) for path in paths]
        self._prompt_tokens += len(prefix) + sum(len(path[-1]) for path in paths)

        def scores() -> Scores:
            found: dict[tuple[int, ...], Scores] = {}
            for path, strand in zip(paths, strands, strict=True):
                # A node on several paths is taken from the first, whatever the row rule.
                for node, values in zip(path, _scoring(strand).found, strict=True):
                    found.setdefault(node, values)
            return tree.scores(found, per_token=per_token)

        return scores

    def _channel(self, prompt: Prompt, framing: str, *, per_token: bool = False) -> Callable[[], float]:
        """Reads a prompt's last part behind a framing; the function returned tells its log P."""
        rendered, text = framed(prompt, framing, self._desk.template)
        prefix, situation = self._desk.prefix(rendered), self._desk.weights.tokens(text)
        self._prompt_tokens += len(prefix) + len(situation)
        if not situation:
            raise EngineError(
                "there is no situation to score", where=f"ask '{self.ask.purpose}'", next="Give the last part a text"
            )
        strand = self._strand(prefix, situation[:-1], tuple((token,) for token in situation), keep_end=True)
        count = len(situation) if per_token else 1
        return lambda: float(np.concatenate(_scoring(strand).found).sum()) / count

    def _contrast(self, prompt: Prompt, form: Rate) -> Callable[[], float]:
        vivid = [self._channel(prompt, framing) for framing in form.vivid]
        dull = [self._channel(prompt, framing) for framing in form.dull]
        return lambda: float(np.mean([score() for score in vivid]) - np.mean([score() for score in dull]))

    def _anchor(self, text: str, form: Rate) -> Callable[[], float]:
        """The contrast of an anchor in this prompt's place."""
        *before, situation = self.ask.prompt.parts
        prompt = Prompt((*before, replace(situation, text=text)))
        key = ("anchor", prompt.key, form.vivid, form.dull)

        def make() -> Callable[[], Scores]:
            contrast = self._contrast(prompt, form)
            return lambda: np.array([contrast()])

        read = self._memoised(key, make)
        return lambda: float(read()[0])

    def _memoised(self, key: Key, make: Callable[[], Callable[[], Scores]]) -> Callable[[], Scores]:
        known = self._desk.memo.get(key)
        before, strands = self._prompt_tokens, len(self.strands)
        fresh = make()
        self._prompt_tokens = before  # the ask's own text is counted, not what it is compared with
        if known is not None:
            del self.strands[strands:]
            return lambda: known
        self._constant.update(range(strands, len(self.strands)))

        def scores() -> Scores:
            found = fresh()
            self._desk.memo.put(key, found)
            return found

        return scores

    def _strand(
        self, prefix: Prefix, tail: tuple[int, ...], wanted: tuple[tuple[int, ...], ...], *, keep_end: bool = False
    ) -> Strand:
        self._longest = max(self._longest, len(prefix) + len(tail))
        order = (self.ticket, len(self.strands))
        strand = Strand(order, prefix, lambda: Scoring(tail, wanted, self._desk.stats), keep_end)
        self.strands.append(strand)
        return strand


def _numbers(prompt: Prompt, form: Rate) -> tuple[str, ...]:
    """The numbers as written behind the prompt: with a space, unless it ends in white space or opens a turn."""
    last = prompt.parts[-1]
    opens = last.role in (Role.SYSTEM, Role.USER) or not last.text or last.text[-1].isspace()
    return tuple(f"{'' if opens else ' '}{number}" for number in range(form.low, form.high + 1))


def _hold_shared(strands: list[Strand]) -> None:
    """Notes for each strand the last cut up to which another one goes the same way."""
    uses = Counter(key for strand in strands for key in strand.prefix.keys)
    for strand in strands:
        strand.held = next((key for key in reversed(strand.prefix.keys) if uses[key] > 1), None)


def _scoring(strand: Strand) -> Scoring:
    assert isinstance(strand.program, Scoring)
    return strand.program


def _tail(strand: Strand) -> int:
    return len(_scoring(strand).tail)
