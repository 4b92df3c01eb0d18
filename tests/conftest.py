"""The surroundings of every test: no network, no backtraces in C, and the two models that `make test` fetches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before anything imports llama.cpp or transformers: a failed assertion in C ends the process without starting a
# debugger, and nothing looks for newer files at a hub.
os.environ |= {"GGML_NO_BACKTRACE": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


@pytest.fixture(scope="session")
def small_model_path() -> Path:
    """The GGUF of smollm2-135m, as prepared. Tests that take it are marked `model`; without it they fail."""
    from localville.errors import ModelError
    from localville.llm.catalog import find_model

    try:
        return find_model("smollm2-135m").path
    except ModelError as fault:
        pytest.fail(f"the small model is not ready ({fault}); run: make test", pytrace=False)


@pytest.fixture(scope="session")
def embedder_path() -> Path:
    """The folder of all-MiniLM-L6-v2, for SentenceEmbedder(path). Without it the tests that take it fail."""
    from localville.errors import ModelError
    from localville.llm import catalog

    try:
        return catalog.embedder_path()
    except ModelError as fault:
        pytest.fail(f"the embedder is not ready ({fault}); run: make test", pytrace=False)
