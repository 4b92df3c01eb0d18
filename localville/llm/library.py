"""The one place where llama.cpp is loaded: before it the environment is set, after it its log is silenced."""

from __future__ import annotations

import ctypes
import os

from localville.errors import PrerequisiteError

# llama.cpp's threads meet some 500 times a token, and GNU OpenMP lets them spin there. If another program takes a core,
# they spin for whole time slices: 130 tokens/s became 4. A short spin and then sleep costs nothing measurable on an
# idle machine and leaves 68 under the same load (docs/log.md). OpenMP reads this once, when it is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

try:
    import llama_cpp
except ImportError:  # pragma: no cover - a dependency, but building it can have failed
    raise PrerequisiteError(
        "llama-cpp-python cannot be imported", next="Install it with: pip install llama-cpp-python"
    ) from None

__all__ = ["llama_cpp", "start", "system_info"]


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _silent(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Drops llama.cpp's log: what the user must know, we say ourselves."""


def start() -> None:
    """Readies llama.cpp; calling it again is fine."""
    llama_cpp.llama_log_set(_silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


def system_info() -> str:
    """The processor features that llama.cpp was built for and found."""
    return str(llama_cpp.llama_print_system_info().decode(errors="replace")).strip(" |")
