"""The catalog: what ships is sound, names are found or nearly found, and a name becomes a file or a sentence."""

from __future__ import annotations

import hashlib
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from localville.assets import catalog_path
from localville.errors import ConfigError, ModelCorrupt, ModelMissing, UnknownModel
from localville.llm import catalog as catalog_module
from localville.llm import model_files, user_catalog
from localville.llm.catalog import CatalogFile, Entry, embedder_path, find_model, load_catalog
from localville.llm.model_files import Receipt, Stamp

GGUF = b"GGUF" + bytes(range(200))
SHA = hashlib.sha256(GGUF).hexdigest()
DEFAULTS = """
[default]
model = "tiny-model"
embedder = "tiny-embedder"
ways = { importance = "continue", place = "channel" }
"""
ENTRIES = f"""
[[model]]
name = "tiny-model"
bytes = {len(GGUF)}
sha256 = "{SHA}"
ways = {{ importance = "channel" }}
wheels = [{{ wheel = "tiny==1.0", member = "tiny/data.bin" }}]

[[model]]
name = "tiny-prepared"
bytes = {len(GGUF)}
sha256 = "{SHA}"
prepare = "q8_0"
wheels = [{{ wheel = "tiny==1.0", member = "tiny/data.bin" }}]

[[model]]
name = "tiny-embedder"
wheels = [{{ wheel = "tiny-embedder==1.0", member = "tiny/model/" }}]
files = [
  {{ path = "config.json", bytes = 2, sha256 = "{hashlib.sha256(b"{}").hexdigest()}" }},
  {{ path = "1_Pooling/config.json", bytes = 2, sha256 = "{hashlib.sha256(b"{}").hexdigest()}" }},
]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a shipped catalog with three tiny models."""
    shipped = tmp_path / "shipped.toml"
    shipped.write_text(DEFAULTS + ENTRIES, encoding="utf-8")
    monkeypatch.setattr(catalog_module, "catalog_path", lambda: shipped)
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def put(path: Path, data: bytes = GGUF) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


class TestShipped:
    """models/catalog.toml itself."""

    def test_names_the_defaults_and_every_wheel_source(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path))
        catalog = load_catalog()
        assert not catalog.find(catalog.default.model).is_embedder
        assert catalog.find(catalog.default.embedder).is_embedder
        assert len(catalog.find("qwen2.5-coder-1.5b").wheels) == 22
        assert catalog.find("smollm2-135m").name == "smollm2-135m-instruct-q4_1"

    def test_says_not_tested_of_all_that_comes_over_https(self):
        shipped = CatalogFile.model_validate(tomllib.loads(catalog_path().read_text(encoding="utf-8")))
        assert all(not entry.tested for entry in shipped.model if entry.hub)
        assert all(entry.hub.revision in entry.source_url for entry in shipped.model if entry.hub)

    def test_gives_a_reason_for_each_preparation_and_an_address_for_each_licence(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path))
        for entry in load_catalog().entries:
            assert (entry.prepare == "none") == (not entry.prepare_reason)
            assert entry.licence_url.startswith("https://")
            assert entry.conditions == bool(entry.conditions_note)
        assert {entry.name for entry in load_catalog().entries if entry.conditions} == {
            "gemma-3-270m-q4_k_m",
            "qwen2.5-3b-instruct",
            "llama-3.2-1b-instruct",
            "llama-3.2-3b-instruct",
        }


class TestNames:
    def test_a_whole_name_wins_over_the_beginning_of_another(self):
        short = Entry(name="abc", bytes=1, sha256="0" * 64, url="https://example.com/a")
        catalog = catalog_module.Catalog((short, short.model_copy(update={"name": "abc-large"})), None)
        assert catalog.find("ABC") is short

    def test_an_ambiguous_beginning_names_what_it_could_be(self, home):
        with pytest.raises(UnknownModel, match=r"several models\. Say which: tiny-model or tiny-prepared or tiny-emb"):
            load_catalog().find("tiny")

    def test_an_unknown_name_says_the_nearest_one_and_the_next_command(self, home):
        with pytest.raises(UnknownModel, match=r"Did you mean 'tiny-model'\? See: localville models list"):
            load_catalog().find("tinny-model")
        with pytest.raises(UnknownModel, match=r"Did you mean 'tiny-prepared'\?"):
            load_catalog().find("tiny-qrep")

    @pytest.mark.parametrize("name", ["", "   ", "zzzzzz"])
    def test_a_name_like_no_other_gets_no_guess(self, home, name):
        with pytest.raises(UnknownModel, match=r"there is no model '.*'\. See: localville models list"):
            load_catalog().find(name)

    @given(st.text(max_size=30))
    def test_any_text_is_found_or_refused_with_a_sentence(self, name):
        known = Entry(name="abc", bytes=1, sha256="0" * 64, url="https://example.com/a")
        try:
            assert catalog_module.Catalog((known,), None).find(name) is known
        except UnknownModel as refused:
            assert refused.next


class TestEntries:
    GOOD = {"name": "m", "bytes": 4, "sha256": "0" * 64, "url": "https://example.com/m.gguf"}  # noqa: RUF012

    @pytest.mark.parametrize(
        "change",
        [
            {"name": "../up"},
            {"name": "a/b"},
            {"name": ".hidden"},
            {"name": "m.q8_0"},
            {"name": "m.GGUF"},
            {"name": "x" * 81},
            {"sha256": "0" * 63},
            {"sha256": "Z" * 64},
            {"sha256": None, "url": None, "path": "/a.gguf"},
            {"url": "http://example.com/m.gguf"},
            {"url": "ftp://example.com/m.gguf"},
            {"url": "file:///etc/passwd"},
            {"url": "https://me:secret@example.com/m.gguf"},
            {"url": None},
            {"path": "/also/a/path.gguf"},
            {"url": None, "path": "relative.gguf"},
            {"url": None, "wheels": ({"wheel": "--index-url=x", "member": "a"},)},
            {"url": None, "wheels": ({"wheel": "name", "member": "a"},)},
            {"url": None, "wheels": ({"wheel": "a==1", "member": "../../x"},)},
            {"url": None, "wheels": ({"wheel": "a==1", "member": "/etc/x"},)},
            {"url": None, "wheels": ({"wheel": "a==1", "member": "c:\\x"},)},
            {"url": None, "hub": {"repository": "a/b", "revision": "main", "file": "m.gguf"}},
            {"conditions": True},
            {"prepare": "q3_k"},
            {"colour": "red"},
        ],
    )
    def test_what_could_escape_or_mislead_is_refused(self, change):
        with pytest.raises(ValidationError):
            Entry.model_validate({**self.GOOD, **change})

    @pytest.mark.parametrize("url", ["http://127.0.0.1:8000/m.gguf", "http://localhost/m.gguf", "https://a.b/m"])
    def test_tls_or_this_machine_is_accepted(self, url):
        assert Entry.model_validate({**self.GOOD, "url": url}).source_url == url

    def test_a_folders_digest_does_not_depend_on_the_order_of_its_files(self, home):
        entry = load_catalog().find("tiny-embedder")
        assert entry.digest == entry.model_copy(update={"files": entry.files[::-1]}).digest
        assert entry.size_bytes == 4

    def test_two_models_of_one_name_are_refused(self, home):
        user_catalog_file = put(home / "catalog.toml", (ENTRIES + ENTRIES).encode())
        with pytest.raises(ConfigError, match="two models are named 'tiny-embedder'") as refused:
            load_catalog()
        assert refused.value.where == str(user_catalog_file)


class TestFindModel:
    def test_a_model_that_is_not_here_says_how_to_fetch_it(self, home):
        with pytest.raises(ModelMissing, match=r"'tiny-model' is not fetched\. Run: localville models pull tiny-model"):
            find_model("tiny-model")

    def test_a_fetched_model_comes_with_its_hash_and_its_ways_over_the_default_ones(self, home):
        path = put(home / "models" / "tiny-model.gguf")
        model = find_model("tiny-m")
        assert (model.name, model.path, model.sha256) == ("tiny-model", path, SHA)
        assert model.ways == {"importance": "channel", "place": "channel"}

    def test_while_size_and_time_are_as_recorded_the_bytes_are_not_read(self, home, monkeypatch):
        path = put(home / "models" / "tiny-model.gguf")
        entry = load_catalog().find("tiny-model")
        model_files.write_receipt(entry, Receipt(name=entry.name, source=Stamp.of(path, SHA)))
        monkeypatch.setattr(model_files, "hash_file", lambda *_: pytest.fail("it was read"))
        assert find_model("tiny-model").sha256 == SHA

    def test_a_file_that_has_changed_is_refused(self, home):
        path = put(home / "models" / "tiny-model.gguf")
        entry = load_catalog().find("tiny-model")
        model_files.write_receipt(entry, Receipt(name=entry.name, source=Stamp.of(path, SHA)))
        put(path, GGUF[:-1] + b"x")
        os.utime(path, ns=(1, 1))
        with pytest.raises(ModelCorrupt, match=r"the file has changed .* Run: localville models pull tiny-model"):
            find_model("tiny-model")

    def test_an_original_that_is_not_prepared_yet_says_so(self, home):
        put(home / "models" / "tiny-prepared.gguf")
        with pytest.raises(ModelMissing, match="fetched, not prepared"):
            find_model("tiny-prepared")

    def test_a_prepared_file_of_unknown_making_is_not_trusted(self, home):
        ready = put(home / "models" / "tiny-prepared.q8_0.gguf", b"GGUF prepared")
        with pytest.raises(ModelMissing, match="its receipt is lost"):
            find_model("tiny-prepared")
        entry = load_catalog().find("tiny-prepared")
        stamp = Stamp.of(ready, hashlib.sha256(b"GGUF prepared").hexdigest(), made_from="0" * 64)
        model_files.write_receipt(entry, Receipt(name=entry.name, prepared={"q8_0": stamp}))
        with pytest.raises(ModelMissing, match="its receipt is lost"):  # made from another original
            find_model("tiny-prepared")

    def test_a_prepared_file_is_found_with_its_own_hash(self, home):
        ready = put(home / "models" / "tiny-prepared.q8_0.gguf", b"GGUF prepared")
        entry, sha256 = load_catalog().find("tiny-prepared"), hashlib.sha256(b"GGUF prepared").hexdigest()
        stamp = Stamp.of(ready, sha256, made_from=SHA)
        model_files.write_receipt(entry, Receipt(name=entry.name, prepared={"q8_0": stamp}))
        assert (find_model("tiny-prepared").path, find_model("tiny-prepared").sha256) == (ready, sha256)

    def test_an_embedder_is_no_language_model(self, home):
        with pytest.raises(UnknownModel, match=r"is an embedder, no language model\. Take for example: tiny-model"):
            find_model("tiny-embedder")

    @pytest.mark.parametrize("as_path", [True, False])
    def test_any_gguf_is_found_by_its_path(self, home, tmp_path, as_path):
        path = put(tmp_path / "my own.gguf", GGUF + b"more")
        model = find_model(path if as_path else str(path))
        assert (model.name, model.path, model.entry) == ("my own", path, None)
        assert model.ways == {"importance": "continue", "place": "channel"}

    def test_bytes_the_catalog_knows_are_asked_its_way_whatever_their_name(self, home, tmp_path):
        assert find_model(put(tmp_path / "other.gguf")).ways["importance"] == "channel"

    def test_a_path_without_a_file_or_with_another_file_is_refused(self, home, tmp_path):
        with pytest.raises(UnknownModel, match="there is no such file"):
            find_model(str(tmp_path / "none.gguf"))
        with pytest.raises(ModelCorrupt, match="this is no GGUF file"):
            find_model(put(tmp_path / "text.gguf", b"hello"))


class TestEmbedderPath:
    def test_it_is_the_folder_once_every_file_is_there(self, home):
        folder = home / "models" / "tiny-embedder"
        with pytest.raises(ModelMissing, match="Run: localville models pull tiny-embedder"):
            embedder_path()
        put(folder / "config.json", b"{}")
        with pytest.raises(ModelCorrupt, match="missing or has another size"):
            embedder_path()
        put(folder / "1_Pooling" / "config.json", b"{}")
        assert embedder_path() == folder


class TestAdd:
    def test_a_file_stays_where_it_lies_and_is_found_by_name(self, home, tmp_path):
        path = put(tmp_path / 'My "odd" Mödel\t(v2).GGUF')
        entry = user_catalog.add(str(path))
        assert entry.name == "my-odd-m-del-v2"
        assert find_model("my-odd").path == path
        assert find_model("my-odd").sha256 == SHA

    def test_a_file_that_changes_or_goes_later_is_noticed(self, home, tmp_path):
        path = put(tmp_path / "own.gguf")
        user_catalog.add(str(path))
        put(path, GGUF + b"x")
        with pytest.raises(ModelCorrupt, match="the file has changed"):
            find_model("own")
        path.unlink()
        with pytest.raises(ModelMissing, match="your model 'own' is gone"):
            find_model("own")

    def test_adding_again_replaces_the_own_entry_and_keeps_the_others(self, home, tmp_path):
        user_catalog.add(str(put(tmp_path / "one.gguf")))
        user_catalog.add("https://example.com/two.gguf", sha256=SHA.upper())
        user_catalog.add(str(put(tmp_path / "new.gguf")), name="One")
        own = load_catalog().entries[3:]
        assert [(entry.name, entry.path, entry.sha256) for entry in own] == [
            ("two", None, SHA),
            ("One", str(tmp_path / "new.gguf"), SHA),
        ]

    def test_a_shipped_name_is_refused_with_another_proposed(self, home, tmp_path):
        with pytest.raises(ConfigError, match=r"has a model 'tiny-model' already.*--name my-tiny-model"):
            user_catalog.add(str(put(tmp_path / "tiny-model.gguf")))

    @pytest.mark.parametrize(
        ("target", "options", "message"),
        [
            ("http://example.com/m.gguf", {}, "over https:// only"),
            ("https://example.com/m.gguf", {"sha256": "abc"}, "sha256 'abc'"),
            ("https://example.com/m.gguf", {"name": "../m"}, r"name '\.\./m'"),
            ("https://example.com/", {}, "name ''"),
        ],
    )
    def test_a_bad_address_name_or_hash_is_one_sentence(self, home, target, options, message):
        with pytest.raises(ConfigError, match=message):
            user_catalog.add(target, **options)

    def test_a_file_with_another_hash_than_given_is_refused(self, home, tmp_path):
        with pytest.raises(ConfigError, match=f"its sha256 is {SHA}"):
            user_catalog.add(str(put(tmp_path / "own.gguf")), sha256="0" * 64)
        assert not (home / "catalog.toml").exists()

    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
    def test_any_text_survives_being_written_as_toml(self, text):
        assert tomllib.loads(f"x = {user_catalog._toml_value({'k': [text, 1, True]})}")["x"] == {"k": [text, 1, True]}
