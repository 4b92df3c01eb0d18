"""run.toml reads back equal, whatever its keys and values are."""

from __future__ import annotations

import tomllib
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from localville.record.toml import to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT)
LISTS = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
TABLES = st.recursive(
    st.dictionaries(TEXT, PLAIN | st.lists(LISTS, max_size=3), max_size=4),
    lambda inner: st.dictionaries(TEXT, inner | PLAIN, max_size=4),
)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TABLES)
@example({"a.b": {"": {"[x]": 1}}, '"': "'", "é 日本 😀": "\x00\x1f\x7f\x85\u2028\r\n\t\\", "#": "# no comment"})
@example({"empty": {}, "deep": {"deeper": {}}, "after": 1})
@example({"big": 2**70, "small": 1e-300, "huge": 1e300, "inf": float("inf"), "zero": -0.0})
@example({"list": [{"a": [1, {}]}, []], "a": {"b": {"c": 1}, "d": 2}})
def test_any_table_reads_back_equal(data: dict[str, Any]):
    assert tomllib.loads(to_toml(data)) == data


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ((1, 2), [1, 2]),
        (np.float64(0.1), 0.1),
        (Colour.RED, "red"),
        (Size.LARGE, 3),
        (True, True),
        ({"given": 1, "not": None}, {"given": 1}),
        ({"not": None}, {}),
        ([{"not": None}], [{}]),
    ],
)
def test_kin_of_plain_values_are_written_as_these(value, read):
    assert tomllib.loads(to_toml({"key": value})) == {"key": read}


def test_types_are_kept():
    read = tomllib.loads(to_toml({"int": 1, "float": 1.0, "truth": True}))
    assert [type(value) for value in read.values()] == [int, float, bool]


def test_none_is_left_out():
    assert to_toml({"a": None, "b": 1}) == "b = 1\n"


def test_it_looks_like_a_file_that_somebody_wrote():
    text = to_toml({"localville": "0.1.0", "config": {"seed": 7, "profile": {"name": "paper"}}, "a b": {"x": [1]}})
    assert text == (
        'localville = "0.1.0"\n\n[config]\nseed = 7\n\n[config.profile]\nname = "paper"\n\n["a b"]\nx = [1]\n'
    )


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), [None]], ids=lambda value: type(value).__name__)
def test_a_value_without_a_form_is_refused(value):
    with pytest.raises(TypeError, match="TOML has no form for"):
        to_toml({"key": value})


def test_a_text_that_is_no_unicode_is_refused():
    with pytest.raises(ValueError, match="surrogates not allowed"):
        to_toml({"path": "caf\udce9"})
