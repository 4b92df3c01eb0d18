"""Every stated failure says what, where, and what to do next, in one sentence each; the drawn tree is the true one."""

from __future__ import annotations

import inspect
import re

import pytest

from localville import errors
from localville.errors import LocalvilleError

TREE = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, LocalvilleError)]


def drawn() -> dict[str, str]:
    """Class → parent, as the docstring draws it: a name is a child of the last one further to the left."""
    found, stack = {}, []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"^ {4}([│├└─ ]*)([A-Z]\w+)(?: |$)", line):
            depth = len(match[1])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            found[match[2]] = stack[-1][1] if stack else "Exception"
            stack.append((depth, match[2]))
    return found


def test_the_tree_in_the_docstring_is_the_true_one():
    assert drawn() == {error.__name__: error.__bases__[0].__name__ for error in TREE}


@pytest.mark.parametrize("error", TREE, ids=lambda error: error.__name__)
def test_each_carries_what_where_and_the_next_command(error):
    fault = error("it is broken", where="file 'x'", next="Run: mend x")
    assert str(fault) == "file 'x': it is broken. Run: mend x"
    assert (fault.what, fault.where, fault.next) == ("it is broken", "file 'x'", "Run: mend x")


def test_where_and_next_can_be_left_out():
    assert str(LocalvilleError("it is broken")) == "it is broken."
    assert str(LocalvilleError("it is broken", next="Mend it")) == "it is broken. Mend it"


def test_each_can_be_told_apart_from_faults_of_the_program():
    assert not issubclass(LocalvilleError, ValueError | TypeError | OSError | RuntimeError)
