"""Every failure that localville states, as one tree.

    LocalvilleError            what went wrong, where, and the next command
    ├── InputError             a file or argument the user gave
    │   ├── ConfigError        run settings, scenario or profile
    │   ├── PersonaError       a persona's TOML
    │   ├── MapError           a Tiled map
    │   └── GrammarError       a GBNF file or an answer form
    ├── ModelError             weights
    │   ├── UnknownModel       no such catalog name and no such file
    │   ├── ModelMissing       known, but not fetched
    │   ├── ModelCorrupt       wrong sha256, not a GGUF, truncated
    │   ├── LicenceNotAccepted conditions that need the user's yes
    │   └── FetchError         index or server unreachable, disk full
    ├── EngineError            the engine could not answer
    │   ├── AskTooLong         prompt and answer do not fit the context
    │   └── AnswerUnfinished   still cut off by its token budget after every retry
    ├── RunError               a run folder
    │   ├── RunExists
    │   ├── RunNotFound
    │   └── RunCorrupt
    └── PrerequisiteError      a package or program that must be installed first

The CLI prints one sentence and exits with code 1; nothing else is ever caught there.
"""

from __future__ import annotations


class LocalvilleError(Exception):
    """Says what went wrong, where, and which command to run next.

    what: one clause without a final stop. where: file, layer, object, agent. next: a command or an action.
    """

    def __init__(self, what: str, *, where: str = "", next: str = "") -> None:
        self.what, self.where, self.next = what, where, next
        super().__init__(str(self))

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {self.next}" if self.next else f"{head}."


class InputError(LocalvilleError):
    """Reports a file or an argument that cannot be used."""


class ConfigError(InputError):
    """Reports run settings, a scenario or a profile that cannot be used."""


class PersonaError(InputError):
    """Reports a persona file that cannot be used."""


class MapError(InputError):
    """Reports a map that cannot be used; `where` names file, layer and object."""


class GrammarError(InputError):
    """Reports a grammar or an answer form that cannot be used."""


class ModelError(LocalvilleError):
    """Reports weights that cannot be used."""


class UnknownModel(ModelError):
    """Reports a name that is neither in the catalog nor a file."""


class ModelMissing(ModelError):
    """Reports a known model whose weights are not on this machine."""


class ModelCorrupt(ModelError):
    """Reports weights with a wrong sha256 or a file that is no GGUF."""


class LicenceNotAccepted(ModelError):
    """Reports a licence with conditions that the user has not accepted yet."""


class FetchError(ModelError):
    """Reports a download that could not be completed."""


class EngineError(LocalvilleError):
    """Reports a question that the engine could not answer."""


class AskTooLong(EngineError):
    """Reports a prompt that, with its answer, does not fit the context."""


class AnswerUnfinished(EngineError):
    """Reports an answer that its token budget cut off at every attempt."""


class RunError(LocalvilleError):
    """Reports a run folder that cannot be used."""


class RunExists(RunError):
    """Reports a run folder that is already there."""


class RunNotFound(RunError):
    """Reports a run folder that is not there."""


class RunCorrupt(RunError):
    """Reports a run folder whose files contradict each other or cannot be read."""


class PrerequisiteError(LocalvilleError):
    """Reports a package or program that must be installed first."""
