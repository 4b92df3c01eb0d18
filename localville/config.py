"""What a run is made from: personas, a scenario, a profile of constants, and the settings of one run.

TOML in, frozen pydantic objects out. Anything unknown in a file is an error that names the file and the key.
"""

from __future__ import annotations

import tomllib
import unicodedata
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from localville.assets import personas_dir
from localville.clock import SimTime, format_clock, parse_clock
from localville.errors import ConfigError, InputError, PersonaError


def composed(value: Any) -> Any:
    """One way to write an accent, so that a name typed on a Mac is the name in the file (Unicode NFC)."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


Composed = BeforeValidator(composed)
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000), Composed]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^:\x00-\x1f\x7f]+$"),
    Composed,
]
Place = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$"),
    Composed,
]
"""A sector, or ``sector:arena``."""


def _clock_text(value: Any) -> Any:
    return format_clock(parse_clock(value)) if isinstance(value, str) else value


def _hours_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    start, dash, end = value.partition("-")
    first, last = parse_clock(start), parse_clock(end)
    if not dash or first >= last:
        raise ConfigError(f"'{value}' are no hours of a day", next="Write them as 08:00-17:00")
    return f"{format_clock(first)}-{format_clock(last)}"


Clock = Annotated[str, BeforeValidator(_clock_text)]
Hours = Annotated[str, BeforeValidator(_hours_text)]
"""``08:00-17:00``, within one day."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Persona(_Frozen):
    """Describes one person: who they are, where they live and work, what they remember at first (paper §3.1)."""

    name: Name
    age: int = Field(ge=1, le=120)
    traits: Text
    occupation: Text
    lifestyle: Text
    wake: Clock = "07:00"
    sleep: Clock = "22:00"
    concern: Text
    home: Place
    """A sector, or ``sector:arena`` for a room of a shared house."""
    workplace: Place | None = None
    works: Hours | None = None
    """From when to when it is at its workplace on an ordinary day; nothing for whoever has no fixed hours."""
    known_places: tuple[Place, ...] = ()
    memories: Text
    """One paragraph; each statement between semicolons becomes a seed memory."""

    @model_validator(mode="after")
    def _works_somewhere(self) -> Self:
        if self.works and not self.workplace:
            raise ValueError("'works' needs a workplace")
        return self

    @property
    def first_name(self) -> str:
        return self.name.split()[0]

    @property
    def work_hours(self) -> tuple[int, int] | None:
        """The hours of work in seconds of the day."""
        if self.works is None:
            return None
        start, _, end = self.works.partition("-")
        return parse_clock(start), parse_clock(end)

    @property
    def seed_memories(self) -> tuple[str, ...]:
        """The statements of the paragraph, without blanks and final stops."""
        statements = (part.strip().rstrip(".") for part in self.memories.replace("\n", " ").split(";"))
        return tuple(" ".join(part.split()) for part in statements if part)


class Profile(_Frozen):
    """Holds every constant of the architecture with its unit; the defaults are the paper's (DESIGN law 7)."""

    name: str = "paper"
    vision_radius_tiles: int = 8
    """Perception radius; PAPER §10 (original code)."""
    attention_bandwidth: int = 8
    """Percepts taken in per step, nearest first; PAPER §10."""
    retention: int = 8
    """Latest percepts that are not remembered again; PAPER §10."""
    recency_decay_per_hour: float = 0.995
    """Per game hour since last retrieval; paper §4.1."""
    weight_recency: float = 1.0
    weight_importance: float = 1.0
    weight_relevance: float = 1.0
    """All α = 1; paper §4.1."""
    retrieve_plan: int = 12
    """Memories put before the day plan. Ours: what a small model uses; the original retrieves 30 (PAPER §10)."""
    plan_chunks_min: int = 5
    plan_chunks_max: int = 8
    """Chunks of a day; paper §4.3."""
    plan_drafts: int = 3
    """Day plans written at once, of which the best is taken (ENGINE §5). Ours."""
    action_minutes: tuple[int, ...] = (5, 10, 15)
    """Lengths of a fine action; paper §4.3."""
    actions_per_hour: int = 5
    """At most. Ours: with twelve of five minutes a small model runs out of things to do and has breakfast again."""
    reflect_threshold: int = 150
    """Summed importance of new observations and chats that sets off a reflection; paper §4.2."""
    reflect_latest: int = 100
    """Latest memories that the focal questions are about; paper §4.2."""
    reflect_shown: int = 20
    """Of these, the most important are put before the model. Ours: what a small model uses."""
    reflect_questions: int = 3
    reflect_insights: int = 5
    """Questions, and insights a question at most; paper §4.2, PAPER §10."""
    retrieve_reflection: int = 10
    """Memories put before an insight. Ours; the original retrieves 30 (PAPER §10)."""
    retrieve_summary: int = 8
    """Memories put before each of the three summaries of an agent. Ours; the original retrieves 30 (PAPER §10)."""
    talk_turns: int = 8
    """Utterances of a talk at most. Ours: from the third or fourth on a 1.5B repeats itself (ENGINE §5); original 16."""
    talk_drafts: int = 3
    """Drafts of each utterance, of which the one with the fewest faults is said (ENGINE §5). Ours."""
    talk_facts: int = 3
    """Utterances of a talk that are remembered word for word, the most important ones; ours."""
    talk_characters_per_minute: int = 240
    """How long a talk takes; PAPER §10."""
    talk_cooldown_minutes: int = 133
    """Between two talks of the same pair: 800 steps of 10 seconds; PAPER §10."""
    react_again_minutes: int = 30
    """How long one that was passed by, or a thing that was left as it is, is not thought of again; ours."""
    wait_minutes: int = 5
    """How long one waits for a full room before thinking again; ours, the shortest action."""
    avoid_minutes: int = 10
    """How long one that would not wait does things elsewhere; ours."""
    retrieve_talk: int = 5
    """Memories about the other that a talk begins with. Ours; the original retrieves 50 (PAPER §10)."""
    retrieve_relation: int = 4
    retrieve_status: int = 2
    """Memories before the choice to talk, by the paper's two queries (§4.3.1). Ours; the original retrieves 50 each."""
    retrieve_utterance: int = 2
    """Memories about the last thing said. Ours; the original retrieves 15 (PAPER §10)."""
    plan_importance: int = 5
    """Importance of a plan memory; PAPER §10."""


PROFILES = {"paper": Profile()}


class Scenario(_Frozen):
    """Names a map, a cast and a start; `localville run NAME` takes one."""

    name: Name
    title: Text
    map: Name
    cast: Name
    """A folder of persona TOMLs beside the scenario file."""
    date: str = "2023-02-13"
    start: Clock = "06:00"
    until: str = "13:00"
    """When a run ends if the command does not say: ``13:00`` or ``day 2 24:00``."""

    @property
    def start_time(self) -> SimTime:
        return SimTime.of(self.date, self.start)


class RunConfig(_Frozen):
    """Holds the settings of one run; with the seed and the model file they determine it (DESIGN law 3)."""

    scenario: str
    model: str
    seed: int = 0
    start: int
    """Game seconds (see `SimTime`)."""
    until: int
    step_seconds: int = Field(default=10, ge=1, le=600)
    """One step is one tile of walking; PAPER §10."""
    agents: tuple[str, ...] = ()
    """Full names, in id order; empty takes the whole cast."""
    profile: Profile = Profile()

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.until <= self.start:
            raise ValueError("the run would end before it begins; --until must lie after --start")
        return self


M = TypeVar("M", bound=BaseModel)


def read_toml(path: Path, model: type[M], error: type[InputError] = ConfigError) -> M:
    """Reads a TOML file into a model; every fault is one sentence that names the file and the key."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # editors on Windows begin files with a mark
    except FileNotFoundError:
        raise error("the file does not exist", where=str(path), next="Check the path") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise error(f"the file cannot be read ({fault})", where=str(path), next="Save it as UTF-8 text") from None
    except tomllib.TOMLDecodeError as fault:
        raise error(f"this is no valid TOML: {fault}", where=str(path), next="Mend that line") from None
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        # A misspelt key is unknown and missing at once; the misspelling is what helps.
        first = min(fault.errors(), key=lambda error: error["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"]) or "file"
        known = get_close_matches(key, model.model_fields, 1)
        hint = f"Did you mean '{known[0]}'?" if first["type"] == "extra_forbidden" and known else "Mend that key"
        raise error(f"key '{key}': {first['msg'].lower()}", where=str(path), next=hint) from None
    except InputError as fault:
        raise error(fault.what, where=str(path), next=fault.next) from None


def scenario_names() -> list[str]:
    """The scenarios that ship with localville."""
    return sorted(path.stem for path in personas_dir().glob("*.toml"))


def find_scenario(name: str) -> tuple[Scenario, Path]:
    """Finds a scenario by shipped name or by path and returns it with its file."""
    path = Path(name)
    if path.suffix != ".toml":
        path = personas_dir() / f"{name}.toml"
        if not path.is_file():
            names = scenario_names()
            close = get_close_matches(name, names, 1)
            hint = f"Did you mean '{close[0]}'?" if close else f"Known scenarios: {', '.join(names)}"
            raise ConfigError(
                f"there is no scenario '{name}'", next=f"{hint.rstrip('.')}. A path to a .toml file works too"
            )
    return read_toml(path, Scenario), path


def load_cast(scenario: Scenario, path: Path, only: tuple[str, ...] = ()) -> tuple[Persona, ...]:
    """Reads the personas of a scenario in name order, all of them or those named by full or first name."""
    folder = path.parent / scenario.cast
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not files:
        raise PersonaError("the cast folder holds no persona files", where=str(folder), next="Add one .toml a person")
    cast = sorted((read_toml(file, Persona, PersonaError) for file in files), key=lambda persona: persona.name)
    names = [persona.name for persona in cast]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise PersonaError(f"two files describe '{twice}'", where=str(folder), next="Rename or remove one of them")
    if not only:
        return tuple(cast)
    chosen = []
    for want in only:
        hits = [p for p in cast if composed(want).strip().casefold() in (p.name.casefold(), p.first_name.casefold())]
        if len(hits) != 1:
            close = get_close_matches(want, [*names, *(p.first_name for p in cast)], 1)
            hint = f"Did you mean '{close[0]}'?" if close else f"The cast: {', '.join(names)}"
            what = f"'{want}' names nobody in the cast" if not hits else f"'{want}' names more than one person"
            raise PersonaError(what, where=str(folder), next=hint)
        chosen.append(hits[0])
    return tuple(sorted(set(chosen), key=lambda persona: persona.name))
