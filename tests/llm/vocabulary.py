"""A real tokenizer for tests: llama.cpp's vocabulary without the weights, opened in a fifth of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localville.llm.library import llama_cpp, start


@contextmanager
def open_vocab(path: Path) -> Iterator[Any]:
    """Gives the ``llama_vocab`` pointer of a GGUF file; it is dead once the block is left."""
    start()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    assert model, path
    try:
        yield llama_cpp.llama_model_get_vocab(model)
    finally:
        llama_cpp.llama_model_free(model)
