"""Who somebody is: the description that leads an agent's asks (paper §4.3.2 and appendix A).

This slice describes a person by its persona file alone; it does not change during a run, which makes it the stable
prefix of the agent's asks.
"""

from __future__ import annotations

from localville.clock import SimTime, nearby_days
from localville.config import Persona
from localville.llm.engine import Part
from localville.mind.prompting import part


def description(persona: Persona, now: SimTime) -> Part:
    """The persona as a prompt part: name, age, traits, occupation, habits and present concern, as told today."""
    return part("persona", "persona", persona=persona, concern=nearby_days(persona.concern, now))


def short_description(persona: Persona, now: SimTime) -> Part:
    """Name, age, occupation and present concern, for questions about one part of the day."""
    return part("persona", "persona_short", persona=persona, concern=nearby_days(persona.concern, now))
