"""Preparation: a real, tiny GGUF is requantized by llama.cpp; no half a file stays, and what is made is verified."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from localville.errors import ModelCorrupt, ModelMissing
from localville.llm import model_files, prepare, user_catalog
from localville.llm.catalog import Entry, find_model
from localville.llm.fetch import pull


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def tiny_gguf() -> bytes:
    """The smallest llama that llama.cpp's quantizer takes: one block, four 32×32 float32 tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    numbers = ["context_length", "embedding_length", "feed_forward_length", "vocab_size"]
    names = ["token_embd.weight", "output.weight", "blk.0.attn_q.weight", "blk.0.attn_v.weight"]
    values = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    values += [text(f"llama.{name}") + struct.pack("<II", 4, 32) for name in numbers]
    values += [text(f"llama.{name}") + struct.pack("<II", 4, 1) for name in ("block_count", "attention.head_count")]
    values += [text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-5)]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(names), len(values)) + b"".join(values)
    for number, name in enumerate(names):
        head += text(name) + struct.pack("<IQQIQ", 2, 32, 32, 0, number * 4096)
    head += bytes(-len(head) % 32)
    return head + b"".join(struct.pack("<1024f", *(math.sin(i * j) for j in range(1024))) for i in range(1, 5))


@pytest.fixture
def tiny(tmp_path: Path) -> Entry:
    (tmp_path / "tiny.gguf").write_bytes(tiny_gguf())
    return user_catalog.add(str(tmp_path / "tiny.gguf"), prepare="q8_0")


class TestPrepare:
    def test_the_prepared_file_is_what_is_found_and_verified(self, home, tiny):
        ready = pull(tiny)
        receipt = model_files.read_receipt(tiny)
        assert ready == home / "models" / "tiny.q8_0.gguf"
        assert 0 < ready.stat().st_size < len(tiny_gguf()) / 2
        assert receipt.prepared["q8_0"].made_from == tiny.sha256
        assert receipt.prepared["q8_0"].made_with.startswith("llama-cpp-python 0.")
        assert find_model("tiny").sha256 == model_files.verify(tiny).sha256 == model_files.hash_file(ready)

        ready.write_bytes(ready.read_bytes()[:-1] + b"?")
        assert "the file has changed" in model_files.verify(tiny).fault
        assert pull(tiny) == ready
        assert not model_files.verify(tiny).fault

        before = receipt.prepared["q8_0"].sha256
        assert model_files.verify(tiny).sha256 == before  # the same bytes each time
        other = tiny.model_copy(update={"prepare": "q4_0"})
        assert pull(other).stat().st_size < ready.stat().st_size
        assert set(model_files.read_receipt(tiny).prepared) == {"q8_0", "q4_0"}
        remark = model_files.verify(tiny.model_copy(update={"prepared_sha256": {"q8_0": "0" * 64}})).remark
        assert "other bytes" in remark

    def test_a_file_the_quantizer_refuses_is_one_sentence_and_leaves_nothing(self, home, tmp_path):
        (tmp_path / "bad.gguf").write_bytes(b"GGUF but not really")
        entry = user_catalog.add(str(tmp_path / "bad.gguf"), prepare="q8_0")
        with pytest.raises(ModelCorrupt, match=r"cannot requantize it \(llama_model_loader: failed to load"):
            pull(entry)
        assert not list((home / "models").glob("bad*"))[1:]  # the receipt only

    def test_ctrl_c_ends_the_quantizer_and_leaves_nothing(self, home, tiny, monkeypatch):
        monkeypatch.setattr(prepare, "POLL_SECONDS", 0.001)

        def interrupt(what: str, done: int, total: int | None) -> None:
            if what.startswith("prepare"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pull(tiny, report=interrupt)
        assert {path.name for path in (home / "models").iterdir()} == {"tiny.json"}

    def test_an_own_file_that_changed_is_not_prepared(self, home, tiny):
        Path(tiny.path).write_bytes(tiny_gguf() + b"x")
        with pytest.raises(ModelCorrupt, match="your file has changed since you added it"):
            pull(tiny)
        Path(tiny.path).unlink()
        with pytest.raises(ModelMissing, match="your file is gone"):
            pull(tiny)
