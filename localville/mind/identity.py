"""Who somebody is: the description that leads an agent's asks (paper §4.3.2 and appendix A).

This slice describes a person by its persona file alone; it does not change during a run, which makes it the stable
prefix of the agent's asks.
"""

from __future__ import annotations

from localville.config import Persona
from localville.llm.engine import Part
from localville.mind.prompting import part


def description(persona: Persona) -> Part:
    """The persona as a prompt part: name, age, traits, occupation, habits and present concern."""
    return part("persona", "persona", persona=persona)


def short_description(persona: Persona) -> Part:
    """Name, age and occupation, for questions about one moment of the day."""
    return part("persona", "persona_short", persona=persona)
