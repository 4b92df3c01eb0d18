"""A real tokenizer for tests: llama.cpp's vocabulary without the weights, opened in a fifth of a second."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llama_cpp


@llama_cpp.llama_log_callback
def _silent(level: int, text: bytes, data: Any) -> None:
    """Keeps llama.cpp's loading notes out of the test output; must outlive every call into the library."""


@contextmanager
def open_vocab(path: Path) -> Iterator[Any]:
    """Gives the ``llama_vocab`` pointer of a GGUF file; it is dead once the block is left."""
    llama_cpp.llama_log_set(_silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    assert model, path
    try:
        yield llama_cpp.llama_model_get_vocab(model)
    finally:
        llama_cpp.llama_model_free(model)
