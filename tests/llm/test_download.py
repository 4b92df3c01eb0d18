"""Fetching over HTTPS: what was cut off is gone on with, wrong bytes never stay, each failure is one sentence.

No network: a server of this test, which behaves badly where told so.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from localville.errors import FetchError, ModelCorrupt, ModelMissing
from localville.llm import download, user_catalog
from localville.llm.catalog import Entry, find_model, load_catalog
from localville.llm.fetch import pull
from localville.llm.part import CHUNK_BYTES

DATA = b"GGUF" + bytes(range(256)) * 12_000  # 3 MB: a few chunks
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    return tmp_path / "home"


def final(home: Path) -> Path:
    return home / "models" / "m.gguf"


def on_disk(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


class Server(ThreadingHTTPServer):
    """Serves DATA, badly where told so: one behaviour is taken from ``moods`` per request, then it is good."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.moods: list[str] = []
        self.ranges: list[str | None] = []
        self.data = DATA

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some tests are about."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/m.gguf"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        return

    def do_GET(self) -> None:
        mood = self.server.moods.pop(0) if self.server.moods else "good"
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        data, start = self.server.data, 0
        if mood.isdigit():
            self.send_error(int(mood))
            return
        if mood.startswith("redirect "):
            self.send_response(302)
            self.send_header("Location", mood.split()[1])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if asked and mood != "no ranges":
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            self.send_response(206)
            shift = 1 if mood == "wrong range" else 0
            self.send_header("Content-Range", f"bytes {start + shift}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        if mood != "no length":
            self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        body = data[start:]
        self.wfile.write({"cut": body[: len(body) // 2], "empty": b""}.get(mood, body))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def url_entry(server: Server, **change: object) -> Entry:
    return Entry(**{"name": "m", "bytes": len(DATA), "sha256": SHA, "url": server.url, **change})


class TestHttps:
    def test_a_file_arrives(self, home, server):
        assert pull(url_entry(server)).read_bytes() == DATA
        assert on_disk(home) == {"models/m.gguf", "models/m.json"}

    @pytest.mark.parametrize(
        ("moods", "ranges"),
        [
            (["cut"], [None, f"bytes={len(DATA) // 2}-"]),
            (["cut", "no ranges"], [None, f"bytes={len(DATA) // 2}-"]),
            (["cut", "wrong range"], [None, f"bytes={len(DATA) // 2}-", None]),
            (["cut", "416"], [None, f"bytes={len(DATA) // 2}-", None]),
            (["503"], [None, None]),
            (["no length"], [None]),
        ],
    )
    def test_a_connection_that_fails_is_taken_up_again(self, home, server, moods, ranges):
        server.moods = moods
        assert pull(url_entry(server)).read_bytes() == DATA
        assert server.ranges == ranges

    def test_ctrl_c_keeps_what_has_arrived_and_the_next_pull_goes_on_from_there(self, home, server):
        def interrupt(what: str, done: int, total: int | None) -> None:
            if what.startswith("fetch") and done > CHUNK_BYTES:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pull(url_entry(server), report=interrupt)
        kept = final(home).with_name("m.gguf.part").stat().st_size
        assert 0 < kept < len(DATA)
        assert not final(home).exists()
        assert pull(url_entry(server)).read_bytes() == DATA
        assert server.ranges == [None, f"bytes={kept}-"]

    def test_a_part_that_is_complete_needs_no_request(self, home, server):
        final(home).parent.mkdir(parents=True)
        final(home).with_name("m.gguf.part").write_bytes(DATA)
        pull(url_entry(server))
        assert server.ranges == []

    def test_a_part_of_another_file_cannot_pass(self, home, server):
        final(home).parent.mkdir(parents=True)
        final(home).with_name("m.gguf.part").write_bytes(b"x" * 1000)
        with pytest.raises(ModelCorrupt, match="it was removed"):
            pull(url_entry(server))
        assert on_disk(home) == set()
        assert pull(url_entry(server)).read_bytes() == DATA

    @pytest.mark.parametrize(
        ("moods", "message"),
        [
            (["empty"] * 9, "the connection ended after 0 of"),
            (["503"] * 9, r"the server answers 503\. Check the network\."),
            (["404"], "answers 404. The file was moved or removed"),
            (["403"], "fetch it in a browser, then run: localville models add PATH"),
            (["redirect http://example.com/m.gguf"], "redirects to a place without TLS"),
            (["redirect file:///etc/passwd"], "redirects to a place without TLS"),
        ],
    )
    def test_a_server_that_fails_for_good_is_one_sentence(self, home, server, moods, message):
        server.moods = moods
        with pytest.raises(FetchError, match=message):
            pull(url_entry(server))
        assert not final(home).exists()

    def test_a_server_that_is_not_there_is_one_sentence(self, home):
        entry = Entry(name="m", bytes=len(DATA), sha256=SHA, url="http://127.0.0.1:9/m.gguf")
        with pytest.raises(FetchError, match=r"cannot be reached .* Check the network\. Run the same command again"):
            pull(entry)

    def test_another_size_than_the_catalogs_is_noticed_before_the_first_byte(self, home, server):
        with pytest.raises(FetchError, match=f"a file of {len(DATA)} bytes, the catalog says 99"):
            pull(url_entry(server, bytes=99))
        server.moods = ["no length"]
        with pytest.raises(FetchError, match="sends more than the 99 bytes"):
            pull(url_entry(server, bytes=99))
        assert not final(home).exists()

    def test_wrong_bytes_are_removed(self, home, server):
        server.data = DATA[::-1]
        with pytest.raises(ModelCorrupt, match="its sha256 is"):
            pull(url_entry(server))
        assert on_disk(home) == set()

    def test_an_own_url_is_pinned_at_its_first_fetch(self, home, server):
        entry = user_catalog.add(server.url, name="m")
        assert entry.digest is None
        with pytest.raises(ModelMissing):
            find_model("m")
        pull(entry)
        pinned = load_catalog().find("m")
        assert (pinned.sha256, pinned.bytes) == (SHA, len(DATA))
        assert find_model("m").sha256 == SHA
        final(home).unlink()
        server.data = b"GGUF" + DATA
        with pytest.raises(FetchError, match="the catalog says"):
            pull(pinned)

    def test_an_own_url_that_is_no_gguf_is_not_kept(self, home, server):
        server.data = b"<html>please log in</html>"
        with pytest.raises(ModelCorrupt, match="this is no GGUF file"):
            pull(user_catalog.add(server.url, name="m"))
        assert not final(home).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_disk_that_fills_up_on_the_way_is_one_sentence(home, server):
    final(home).parent.mkdir(parents=True)
    final(home).with_name("m.gguf.part").symlink_to("/dev/full")
    with pytest.raises(FetchError, match=r"m\.gguf\.part: the disk is full\. Free some space"):
        pull(url_entry(server))
    assert not final(home).exists()
