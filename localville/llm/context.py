"""A llama.cpp context in the strict profile, seen as lanes: each lane holds one token sequence.

The profile (ENGINE §3): no flash attention, split KV (every sequence its own cells), f16 KV. With it the logits of a
lane do not depend on threads or on the lanes beside it, as far as the model's row rule goes (`selftest.py`).

C asserts kill the interpreter, so every size is checked here first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localville.errors import EngineError
from localville.llm.library import llama_cpp
from localville.llm.weights import Weights

_CELLS_STEP = 256
"""llama.cpp rounds the cells of a sequence up to this."""
_F16 = 1
"""GGML_TYPE_F16."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Tokens that follow what a lane holds. ``every`` wants the logits of each row, else of the last one only."""

    lane: int
    tokens: Sequence[int]
    every: bool = False


class Context:
    """Feeds tokens to lanes and reads logits. ``fill[lane]`` is the number of tokens a lane holds."""

    def __init__(self, weights: Weights, *, lanes: int, cells: int, threads: int, max_rows: int = 512) -> None:
        if not 0 < lanes <= llama_cpp.llama_max_parallel_sequences():
            raise EngineError(f"{lanes} lanes are not possible", next="Choose fewer slots")
        self.lanes, self.max_rows, self.n_vocab = lanes, max_rows, weights.n_vocab
        self.cells = -(-min(cells, weights.n_context_train) // _CELLS_STEP) * _CELLS_STEP
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = self.cells * lanes
        params.n_batch = params.n_ubatch = max_rows
        params.n_seq_max = lanes
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = 0
        params.kv_unified = False
        params.type_k = params.type_v = _F16
        params.no_perf = True
        self._ctx: Any = llama_cpp.llama_init_from_model(weights.model, params)
        if not self._ctx:
            raise EngineError(
                f"llama.cpp cannot make a context of {lanes} x {self.cells} tokens", next="Choose fewer slots or tokens"
            )
        if llama_cpp.llama_n_ctx_seq(self._ctx) < self.cells:
            raise EngineError(f"llama.cpp gives a lane only {llama_cpp.llama_n_ctx_seq(self._ctx)} cells")
        self._memory: Any = llama_cpp.llama_get_memory(self._ctx)
        if not self._memory:
            raise EngineError("this model keeps no memory of a text: it cannot write", where=weights.path.name)
        self.fill = [0] * lanes
        model = weights.model
        width = llama_cpp.llama_model_n_embd(model) // max(llama_cpp.llama_model_n_head(model), 1)
        self.bytes_per_token: int = (
            4 * width * llama_cpp.llama_model_n_head_kv(model) * llama_cpp.llama_model_n_layer(model)
        )
        """About the KV bytes of a token: keys and values in f16."""
        # The batch is our own numpy memory; `seq_id` wants a pointer per row.
        self._token = np.zeros(max_rows, np.int32)
        self._pos = np.zeros(max_rows, np.int32)
        self._lane = np.zeros(max_rows, np.int32)
        self._want = np.zeros(max_rows, np.int8)
        self._one = np.ones(max_rows, np.int32)
        self._lane_at = self._lane.ctypes.data + np.arange(max_rows, dtype=np.uint64) * np.uint64(4)

    def decode(self, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Feeds rows of several lanes at once and returns each lane's logits, float32[wanted rows, n_vocab].

        The arrays are views into llama.cpp's memory and hold until the next call. Lanes must be given in rising order.
        """
        count = 0
        wanted = []
        for piece in rows:
            n = len(piece.tokens)
            first = self.fill[piece.lane] if 0 <= piece.lane < self.lanes else self.cells
            if not n or first + n > self.cells or count + n > self.max_rows:
                raise EngineError(f"{n} rows fit neither lane {piece.lane} ({first} of {self.cells}) nor the call")
            at = slice(count, count + n)
            self._token[at] = piece.tokens
            self._pos[at] = np.arange(first, first + n)
            self._lane[at] = piece.lane
            self._want[at] = piece.every
            self._want[count + n - 1] = 1
            wanted.append(n if piece.every else 1)
            count += n
        if int(self._token[:count].min()) < 0 or int(self._token[:count].max()) >= self.n_vocab:
            raise EngineError("a token lies outside the vocabulary")
        batch = llama_cpp.llama_batch(
            n_tokens=count,
            token=self._token.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            pos=self._pos.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            n_seq_id=self._one.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            seq_id=self._lane_at.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
            logits=self._want.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )
        code = llama_cpp.llama_decode(self._ctx, batch)
        if code:
            raise EngineError(f"llama_decode failed with code {code} on {count} rows")
        for piece in rows:
            self.fill[piece.lane] += len(piece.tokens)
        total = sum(wanted)
        base = ctypes.cast(llama_cpp.llama_get_logits(self._ctx), ctypes.POINTER(ctypes.c_float))
        logits = np.ctypeslib.as_array(base, shape=(total, self.n_vocab))
        return np.split(logits, np.cumsum(wanted)[:-1])

    def clear(self, lane: int) -> None:
        """Empties a lane."""
        llama_cpp.llama_memory_seq_rm(self._memory, lane, -1, -1)
        self.fill[lane] = 0

    def save(self, lane: int) -> NDArray[np.uint8]:
        """Copies what a lane holds, uint8[about KV bytes a token × tokens]."""
        size = int(llama_cpp.llama_state_seq_get_size(self._ctx, lane))
        state = np.empty(size, np.uint8)
        done = llama_cpp.llama_state_seq_get_data(self._ctx, _bytes_at(state), size, lane)
        if done != size:
            raise EngineError(f"llama.cpp saved {done} of {size} bytes of a lane")
        return state

    def load(self, lane: int, state: NDArray[np.uint8], fill: int) -> None:
        """Puts a saved state of ``fill`` tokens into a lane, instead of what was there."""
        self.clear(lane)
        done = llama_cpp.llama_state_seq_set_data(self._ctx, _bytes_at(state), state.size, lane)
        if done != state.size:
            raise EngineError(f"llama.cpp restored {done} of {state.size} bytes of a lane")
        self.fill[lane] = fill

    def move(self, source: int, target: int) -> None:
        """Moves what a lane holds to another one."""
        self.load(target, self.save(source), self.fill[source])
        self.clear(source)

    def close(self) -> None:
        """Frees the context. Closing twice is fine."""
        if self._ctx:
            llama_cpp.llama_free(self._ctx)
            self._ctx = self._memory = None


def _bytes_at(array: NDArray[np.uint8]) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
