"""Weights: a GGUF file in memory, its vocabulary and its metadata, over llama.cpp's C functions.

Everything here is stateless once loaded: tokens, pieces, metadata. What computes is `context.py`.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import struct
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from localville.errors import ModelCorrupt, ModelMissing
from localville.llm.library import llama_cpp, start

_GGUF_VERSIONS = (2, 3)
_MAX_COUNT = 1 << 20
"""More tensors or metadata keys than any real model has: the counts of a damaged header."""
_SPM = 1
"""LLAMA_VOCAB_TYPE_SPM, whose tokenizer puts a space before a text."""


def check_gguf(path: Path) -> None:
    """Reads the header of a GGUF file. Raises ModelMissing or ModelCorrupt before anything is handed to C."""
    if not path.is_file():
        raise ModelMissing(
            "there is no such model file", where=str(path), next="Fetch one with: localville models pull"
        )
    with path.open("rb") as file:
        head = file.read(24)
    if len(head) < 24 or head[:4] != b"GGUF":
        raise _corrupt(path, "this is not a GGUF file")
    version, tensors, keys = struct.unpack("<IQQ", head[4:])
    if version not in _GGUF_VERSIONS:
        raise _corrupt(path, f"GGUF version {version} cannot be read, only {_GGUF_VERSIONS}")
    if not 0 < tensors < _MAX_COUNT or not 0 < keys < _MAX_COUNT:
        raise _corrupt(path, "the GGUF header is damaged")


def sha256_of(path: Path) -> str:
    """The sha256 of a file, computed once a process for each size and time of change (about a second a gigabyte)."""
    stat = path.stat()
    return _sha256(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=16)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _corrupt(path: Path, what: str) -> ModelCorrupt:
    return ModelCorrupt(what, where=str(path), next="Delete the file and fetch it again: localville models pull")


_WORD = re.compile(r" ?[^\W\d_A-Z]{4,}")


class Weights:
    """Holds a loaded model. ``repack`` lets llama.cpp rearrange weights for faster kernels (``use_extra_bufts``)."""

    def __init__(self, path: Path, *, gpu_layers: int = 0, repack: bool = True) -> None:
        check_gguf(path)
        start()
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.use_extra_bufts = repack
        if repack:
            # Mapped, the whole file stays in memory beside the rearranged copy: 1.8 instead of 1.2 GB at 1.5B.
            params.load_mode = llama_cpp.LLAMA_LOAD_MODE_NONE
        self.model: Any = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise _corrupt(path, "llama.cpp cannot load this file: it is truncated, damaged or of an unknown kind")
        self.path = path
        self.settings = f"gpu_layers={gpu_layers} repack={repack}"
        self.vocab: Any = llama_cpp.llama_model_get_vocab(self.model)
        self.n_vocab: int = llama_cpp.llama_vocab_n_tokens(self.vocab)
        self.n_context_train: int = llama_cpp.llama_model_n_ctx_train(self.model)
        self.ends = frozenset(t for t in range(self.n_vocab) if llama_cpp.llama_vocab_is_eog(self.vocab, t))
        adds_bos = llama_cpp.llama_vocab_get_add_bos(self.vocab)
        self.opening: tuple[int, ...] = (llama_cpp.llama_vocab_bos(self.vocab),) if adds_bos else ()
        """The begin-of-text token if this model's metadata asks for one, else nothing."""
        self._tokenize = lru_cache(maxsize=4096)(self._tokens_of)
        # An SPM tokenizer would start every part with a space; behind a line end it does not.
        spaced = (
            llama_cpp.llama_vocab_type(self.vocab) == _SPM and self.meta("tokenizer.ggml.add_space_prefix") != "false"
        )
        self._lead = self._raw_tokens("\n", special=False) if spaced else ()

    def tokens(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        """Tokenises a text by itself. Only with ``special`` are markers like ``<|im_end|>`` read as such."""
        return self._tokenize(text, special)

    def _tokens_of(self, text: str, special: bool) -> tuple[int, ...]:
        if not text:
            return ()
        if self._lead and not special:
            led = self._raw_tokens("\n" + text, special=False)
            if led[: len(self._lead)] == self._lead:
                return led[len(self._lead) :]
        return self._raw_tokens(text, special=special)

    def _raw_tokens(self, text: str, *, special: bool) -> tuple[int, ...]:
        raw = text.encode()
        size = len(raw) + 8
        buffer = (ctypes.c_int32 * size)()
        count = llama_cpp.llama_tokenize(self.vocab, raw, len(raw), buffer, size, False, special)
        if count < 0:
            raise ValueError(f"the tokenizer wants {-count} tokens for {len(raw)} bytes")
        return tuple(buffer[:count])

    def text(self, tokens: list[int]) -> str:
        """Joins the pieces of ordinary tokens; markers are nothing, bytes that are no UTF-8 become U+FFFD."""
        return b"".join(self._piece(token) for token in tokens).decode(errors="replace")

    @cached_property
    def words(self) -> frozenset[int]:
        """Tokens that are a word, or the beginning of one, in lower case and of four or more letters."""
        pieces = ((token, self._piece(token).decode(errors="replace")) for token in range(self.n_vocab))
        return frozenset(token for token, piece in pieces if _WORD.fullmatch(piece))

    def _piece(self, token: int) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = int(llama_cpp.llama_token_to_piece(self.vocab, token, buffer, size, 0, False))
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def meta(self, key: str) -> str | None:
        """A metadata value as text, or None."""
        size = 1 << 16
        buffer = ctypes.create_string_buffer(size)
        count = llama_cpp.llama_model_meta_val_str(self.model, key.encode(), buffer, size)
        return buffer.value.decode(errors="replace") if count >= 0 else None

    @property
    def description(self) -> str:
        """What llama.cpp calls this model: ``llama 135M Q8_0``."""
        buffer = ctypes.create_string_buffer(256)
        llama_cpp.llama_model_desc(self.model, buffer, 256)
        return buffer.value.decode(errors="replace")

    @property
    def n_params(self) -> int:
        return int(llama_cpp.llama_model_n_params(self.model))

    def close(self) -> None:
        """Frees the model. Closing twice is fine."""
        if self.model:
            llama_cpp.llama_model_free(self.model)
            self.model = self.vocab = None
