"""Token masks: what is allowed, what is forced, when an answer is whole, and what is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, Field

from localville.chance import rng
from localville.errors import EngineError, GrammarError
from localville.llm.bounds import bounded_schema, budget, longest_bytes, longest_json
from localville.llm.constraints import Constraints, to_lark
from localville.llm.engine import Fill, Grammar, Write
from localville.llm.gbnf import parse, quote, rule_of
from localville.llm.library import llama_cpp
from tests.llm.vocabulary import open_vocab

END = 261
"""The byte vocabulary's end-of-generation token."""
ODD = '日本 «é» "q" a/b [x] {y} | # $'
"""A name a map may well have."""


def write(gbnf: str) -> Write:
    grammar = Grammar("test", gbnf)
    return Write(grammar, budget(grammar))


@pytest.fixture(scope="module")
def letters() -> Constraints:
    return Constraints.for_bytes()


def allowed(mask: np.ndarray) -> str:
    return "".join("$" if token == END else chr(token) for token in np.flatnonzero(mask))


def test_the_mask_names_the_bytes_that_may_come_next(letters: Constraints) -> None:
    matcher = letters.matcher(write('root ::= "a" [b-d] "\\n"'))
    assert matcher.mask().dtype == np.bool_
    assert matcher.mask().shape == (letters.n_vocab,)
    assert allowed(matcher.mask()) == "a"
    matcher.commit(ord("a"))
    assert allowed(matcher.mask()) == "bcd"


def test_an_answer_is_done_when_only_the_end_is_left(letters: Constraints) -> None:
    matcher = letters.matcher(write('root ::= "a"{1,2}'))
    assert not matcher.accepting() and not matcher.done()
    matcher.commit(ord("a"))
    assert matcher.accepting() and not matcher.done()
    assert allowed(matcher.mask()) == "a$"
    matcher.commit(ord("a"))
    assert matcher.accepting() and matcher.done()
    assert allowed(matcher.mask()) == "$"
    assert matcher.forced() == []


def test_forced_tokens_are_named_but_not_committed(letters: Constraints) -> None:
    matcher = letters.matcher(write('root ::= "07:" [0-5] "0 end"'))
    assert bytes(matcher.forced()) == b"07:"
    assert bytes(matcher.forced()) == b"07:"
    for token in matcher.forced():
        matcher.commit(token)
    assert matcher.forced() == []
    matcher.commit(ord("3"))
    assert bytes(matcher.forced()) == b"0 end"


def test_a_forbidden_token_is_an_engine_error_with_the_grammars_name(letters: Constraints) -> None:
    matcher = letters.matcher(write('root ::= "a"'))
    with pytest.raises(EngineError, match="test"):
        matcher.commit(ord("b"))


def test_matchers_of_one_grammar_are_independent(letters: Constraints) -> None:
    form = write('root ::= "a"{0,3} "b"')
    one, two = letters.matcher(form), letters.matcher(form)
    one.commit(ord("b"))
    assert one.done() and not two.done()
    assert allowed(letters.matcher(form).mask()) == "ab"


def test_a_phrase_that_may_go_on_with_a_space_can_still_end_before_one(letters: Constraints) -> None:
    """The trap of several terminals: the space would belong to the phrase for good."""
    form = write('root ::= phrase " @ " [a-z]{1,9}\nphrase ::= [a-z]{1,9} (" " [a-z]{1,9}){0,4}\n')
    assert letters.fits(form, "have lunch @ home")
    matcher = letters.matcher(form)
    for char in "have lunch ":
        matcher.commit(ord(char))
    assert "@" in allowed(matcher.mask())


@pytest.mark.parametrize(
    ("gbnf", "good", "bad"),
    [
        ("root ::= " + quote(ODD), [ODD], ["日本"]),
        ("root ::= " + quote("\\n"), ["\\n"], ["\n"]),
        (r'root ::= "\x41\u00e9\U0001F600\t\"\\\[\]"', ['Aé😀\t"\\[]'], ["A"]),
        (r"root ::= [^a-c\n]{2}", ["xy", "日é", "\\]"], ["xa", "x\n", "x"]),
        (r"root ::= [\]\[\\/^.-]{1,2}", ["]", "[-", "\\", "/^", "."], ["a"]),
        (r"root ::= [-a]{1,3} [b-]", ["-ab", "a--"], ["ac"]),
        ("root ::= [à-ž日-本]{1,3}", ["é本"], ["a"]),
        ("root ::= .{1,2}", ["a", "\n日"], ["abc"]),
        ("root ::= a-b A-B\na-b ::= \"x\"\nA-B ::= \"y\" | # why\n  \"z\"\n", ["xy", "xz"], ["xx"]),
        ('root ::= ("a" |\n "b"\n) "c"?\r\n', ["a", "bc"], ["ab"]),
        ('root ::= "a"{ 2 , 3 } "" ("" | "b")', ["aa", "aaab"], ["a"]),
    ],
)  # fmt: skip
def test_gbnf_is_read_as_llama_cpp_reads_it(letters: Constraints, gbnf: str, good: list[str], bad: list[str]) -> None:
    form = write(gbnf)
    for text in good:
        assert letters.fits(form, text), text
        assert len(text.encode()) <= longest_bytes(form.grammar)
    for text in bad:
        assert not letters.fits(form, text), text


@pytest.mark.parametrize(
    ("gbnf", "says"),
    [
        ("", "no rule is named root"),
        ("a ::= b", "no rule is named root"),
        ("root ::= b", "refers to 'b'"),
        ('root ::= "a" | "(" root ")"', "comes back to 'root'"),
        ("root ::= a\na ::= b\nb ::= a", "no longest length"),
        ('root ::= "a"*', "no upper bound; write {0,N}"),
        ("root ::= [a]+", "no upper bound"),
        ("root ::= [a]{3,}", "no upper bound"),
        ("root ::= [a]{3,2}", "no repetition from 0 to 2000"),
        ("root ::= [a]{2001}", "no repetition from 0 to 2000"),
        ("root ::= {2}", "repeats nothing"),
        ('root ::= "a\nb"', "line 1: cannot read"),
        ('root ::= "a"\nroot ::= "b"', "line 2: rule 'root' is defined twice"),
        ('root ::= ("a"', "not closed"),
        ('root = "a"', "cannot read '= "),
        ("root ::= [b-a]", "runs backwards"),
        ("root ::= []", "is empty"),
        (r'root ::= "\q"', "is no escape"),
        (r'root ::= "\U99999999"', "is no character"),
    ],
)
def test_a_bad_grammar_is_named_with_line_and_reason(gbnf: str, says: str) -> None:
    with pytest.raises(GrammarError) as error:
        parse(Grammar("morning", gbnf))
    assert "grammar 'morning'" in str(error.value)
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "a\nb", "\x7f", "\ud800"])
def test_what_cannot_stand_in_a_grammar_is_not_quoted(text: str) -> None:
    with pytest.raises(GrammarError):
        quote(text)


def test_a_rule_can_be_taken_out_by_itself(letters: Constraints) -> None:
    whole = Grammar("g", 'root ::= root-word "!"\nroot-word ::= [a-b]{2}\n')
    rule = rule_of(whole, "root-word")
    assert rule.name == "g.root-word"
    assert letters.fits(Write(rule, 9), "ab") and not letters.fits(Write(rule, 9), "ab!")


def test_lengths_are_exact() -> None:
    assert longest_bytes(Grammar("g", 'root ::= "日" [a-é]{2,3} ("x" | "yz")? .')) == 3 + 3 * 2 + 2 + 4
    assert to_lark(Grammar("g", 'root ::= [a-b] "c"')) == 'start: R0\nR0: /[\\x{61}-\\x{62}]/ "c"\n'


class Plan(BaseModel):
    where: Literal["home", "cafe"]
    hours: int = Field(ge=1, le=12)
    why: str = Field(min_length=1, max_length=8)
    code: str = Field(pattern=r"^[A-Z]{2}[0-9]?$")
    alone: bool = False
    steps: list[int] = Field(default_factory=list, max_length=2, json_schema_extra={"items": {"type": "boolean"}})
    other: Plan | None = None


class Flat(BaseModel):
    where: Literal["home", "cafe"]
    hours: int = Field(ge=1, le=12)
    why: str = Field(min_length=1, max_length=8)
    code: str = Field(pattern=r"^[A-Z]{2}[0-9]?$")
    alone: bool


def test_a_model_is_filled_as_compact_json_within_its_bounds(letters: Constraints) -> None:
    form = Fill(Flat, budget(Flat))
    good = '{"where":"home","hours":12,"why":"tired","code":"AB1","alone":true}'
    assert letters.fits(form, good)
    for old, new in (
        ("12", "13"),
        ("12", "0"),
        ("home", "work"),
        ("tired", "much too tired"),
        ("tired", ""),
        ("tired", "a\nb"),
        ("AB1", "ABC"),
        (",", ", "),
        (',"alone":true', ""),
        ("true}", 'true,"more":1}'),
        ('"hours"', '"hour"'),
        ("12", "12.0"),
    ):
        assert not letters.fits(form, good.replace(old, new)), new
    assert len(good) <= longest_json(Flat)


def _model(annotation: Any, **bounds: Any) -> type[BaseModel]:
    return type("Answer", (BaseModel,), {"__annotations__": {"field": annotation}, "field": Field(**bounds)})


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (_model(str), "Answer.field is a text of any length. Give it max_length"),
        (_model(str, pattern="^a+$"), "Answer.field is a text of any length"),
        (_model(str, pattern="ab"), "pattern without both ends"),
        (_model(list[bool]), "Answer.field is a list of any length. Give it max_length"),
        (_model(list[str], max_length=3), r"Answer.field[] is a text of any length"),
        (_model(int), "Answer.field is a number without bounds. Give it ge and le"),
        (_model(int, ge=0), "Answer.field is a number without bounds"),
        (_model(float, ge=0, le=1), "Answer.field is a number"),
        (_model(dict[str, bool]), "keys of the model's own choice"),
        (_model(Any), "Answer.field is a value of any kind"),
        (_model(str | None), "Answer.field is a text of any length"),
        (Plan, "Plan.other contains itself"),
    ],
)
def test_an_unbounded_model_is_refused_naming_the_field(model: type[BaseModel], says: str) -> None:
    with pytest.raises(GrammarError) as error:
        bounded_schema(model)
    assert says in str(error.value)


def test_models_within_models_and_options_are_measured(letters: Constraints) -> None:
    class Pair(BaseModel):
        first: Flat
        rest: list[Flat] = Field(max_length=2)
        note: int | None = Field(ge=-5, le=5)
        point: tuple[bool, bool]

    form = Fill(Pair, budget(Pair))
    flat = Flat(where="cafe", hours=1, why="x" * 8, code="ZZ9", alone=False)
    text = Pair(first=flat, rest=[flat, flat], note=-5, point=(False, False)).model_dump_json()
    assert letters.fits(form, text)
    assert not letters.fits(form, text.replace('"alone":false', '"alone":false,"more":1'))
    assert len(text) <= longest_json(Pair)


def test_a_model_filled_at_random_is_valid_and_ends_within_its_budget(letters: Constraints) -> None:
    class Pair(BaseModel):
        flat: Flat
        notes: list[Annotated[str, Field(max_length=6)]] = Field(max_length=3)
        last: int | None = Field(ge=-20, le=5)

    form = Fill(Pair, budget(Pair))
    for seed in range(150):
        matcher, draw, written = letters.matcher(form), rng(seed), bytearray()
        while not matcher.done():
            ways = np.flatnonzero(matcher.mask())
            if seed % 3 == 0:  # never end what can go on
                ways = np.setdiff1d(ways, list(b'"]}')) if len(ways) > 3 else ways
            token = int(draw.choice(ways[ways != END]))
            matcher.commit(token)
            written.append(token)
        assert len(written) <= longest_json(Pair)
        Pair.model_validate_json(bytes(written))


@pytest.fixture(scope="module")
def vocab(small_model_path: Path) -> Iterator[Any]:
    with open_vocab(small_model_path) as vocab:
        yield vocab


@pytest.mark.model
def test_a_real_vocabulary_loses_no_token_and_knows_every_end(vocab: Any) -> None:
    constraints = Constraints.for_llama(vocab)
    assert constraints.n_vocab == llama_cpp.llama_vocab_n_tokens(vocab) == 49152
    ends = {token for token in range(49152) if llama_cpp.llama_vocab_is_eog(vocab, token)}
    matcher = constraints.matcher(write('root ::= "a"?'))
    assert len(ends) > 1
    assert set(np.flatnonzero(matcher.mask()).tolist()) == ends | set(_spelling(vocab, b"a"))
    everything = np.flatnonzero(constraints.matcher(write("root ::= .{0,200}")).mask())
    control = {token for token in range(49152) if llama_cpp.llama_vocab_is_control(vocab, token)}
    lost = set(range(49152)) - set(everything.tolist()) - control
    # What is left out can begin no text: continuation bytes of UTF-8, and bytes that never occur in it.
    assert all(_piece(vocab, token)[0] >= 0x80 for token in lost)
    assert ends <= set(everything.tolist())


@pytest.mark.model
def test_special_tokens_never_spell_text(vocab: Any) -> None:
    constraints = Constraints.for_llama(vocab)
    matcher = constraints.matcher(write('root ::= "<|im_start|>"'))
    tokens = []
    while not matcher.done():
        token = int(np.flatnonzero(matcher.mask())[0])
        tokens.append(token)
        matcher.commit(token)
    assert len(tokens) > 1
    assert b"".join(_piece(vocab, token) for token in tokens) == b"<|im_start|>"


@pytest.mark.model
def test_forced_text_is_spelled_as_the_tokenizer_would(vocab: Any) -> None:
    text = b" at the Rose and Crown Pub"
    matcher = Constraints.for_llama(vocab).matcher(write(f'root ::= "{text.decode()}" [.!]'))
    tokens = (llama_cpp.llama_token * 64)()
    count = llama_cpp.llama_tokenize(vocab, text, len(text), tokens, 64, False, False)
    assert matcher.forced() == tokens[:count]


def _piece(vocab: Any, token: int) -> bytes:
    buffer = ctypes.create_string_buffer(256)
    return buffer[: llama_cpp.llama_token_to_piece(vocab, token, buffer, 256, 0, True)]


def _spelling(vocab: Any, text: bytes) -> list[int]:
    return [token for token in range(49152) if _piece(vocab, token) == text]
