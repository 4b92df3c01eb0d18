"""Prompts are source files: one Jinja template a piece, in `prompts/`, rendered strictly and put together as parts."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from localville.llm.engine import Part, Role

PROMPTS = Path(__file__).parent / "prompts"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(PROMPTS),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # prompts are plain text; what a person wrote goes in as data and is tokenised as such
    )


def render(template: str, **values: Any) -> str:
    """Fills ``prompts/TEMPLATE.jinja``; a name without a value is an error, never an empty text."""
    return _environment().get_template(f"{template}.jinja").render(**values)


def part(name: str, template: str, role: Role = Role.TEXT, **values: Any) -> Part:
    """One prompt part from a template. ``name`` says how stable it is: town, persona, task, situation."""
    return Part(name, render(template, **values), role)
