"""Personas and scenarios: TOML in, frozen objects out; every fault is one line that names the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from localville.config import (
    Persona,
    Profile,
    RunConfig,
    Scenario,
    find_scenario,
    load_cast,
    read_toml,
    scenario_names,
)
from localville.errors import ConfigError, InputError, PersonaError

GOOD = {
    "name": '"Ada Lovelace"',
    "age": "36",
    "traits": '"curious, exact"',
    "occupation": '"a mathematician"',
    "lifestyle": '"gets up at 7 and works until 5"',
    "concern": '"wants to finish her notes"',
    "home": '"House"',
    "memories": '"Ada lives alone; Ada likes to walk."',
}
STORY = {"name": '"small"', "title": '"A small town"', "map": '"hobbs"', "cast": '"people"'}


def toml(fields: dict[str, str], **changes: str | None) -> str:
    """The fields as a file; a change to None leaves the key out."""
    merged = {**fields, **changes}
    return "".join(f"{key} = {value}\n" for key, value in merged.items() if value is not None)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def persona(tmp_path: Path, **changes: str | None) -> Persona:
    return read_toml(write(tmp_path / "ada.toml", toml(GOOD, **changes)), Persona, PersonaError)


def refusal(path: Path, model: type = Persona, error: type[InputError] = PersonaError) -> str:
    """What is said of a bad file; always one line that names the file."""
    with pytest.raises(error) as caught:
        read_toml(path, model, error)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text


def said(tmp_path: Path, **changes: str | None) -> str:
    return refusal(write(tmp_path / "ada.toml", toml(GOOD, **changes)))


class TestPersona:
    def test_what_is_left_out_has_the_habits_of_most_people(self, tmp_path):
        ada = persona(tmp_path)
        assert (ada.wake, ada.sleep, ada.workplace, ada.known_places) == ("07:00", "22:00", None, ())

    def test_it_cannot_be_changed(self, tmp_path):
        with pytest.raises(ValidationError):
            persona(tmp_path).age = 37

    def test_memories_are_the_statements_between_semicolons(self, tmp_path):
        text = '"""\n Ada lives\n   alone;\n\n; Ada likes to walk. ;;Ada reads...\n"""'
        assert persona(tmp_path, memories=text).seed_memories == (
            "Ada lives alone",
            "Ada likes to walk",
            "Ada reads",
        )

    @pytest.mark.parametrize(
        ("name", "first"),
        [
            ("Zoë Ångström-Ñuñez", "Zoë"),
            ("李 小龙", "李"),
            ("Plato", "Plato"),
            ("Mary Jane Watson", "Mary"),
            ("Miles O'Brien", "Miles"),
        ],
    )
    def test_people_may_be_called_as_people_are(self, tmp_path, name, first):
        ada = persona(tmp_path, name=f'"{name}"')
        assert (ada.name, ada.first_name) == (name, first)

    def test_blanks_at_the_ends_do_not_count(self, tmp_path):
        blanks = {"name": '"  Ada Lovelace \\t"', "wake": '" 6:30 "', "home": '"House "', "known_places": '[" Park "]'}
        ada = persona(tmp_path, **blanks)
        assert (ada.name, ada.wake, ada.home, ada.known_places) == ("Ada Lovelace", "06:30", "House", ("Park",))

    def test_an_editor_on_windows_may_begin_the_file_with_its_mark(self, tmp_path):
        text = "\ufeff" + toml(GOOD).replace("\n", "\r\n")
        assert read_toml(write(tmp_path / "ada.toml", text), Persona).name == "Ada Lovelace"

    def test_an_unknown_key_is_answered_with_the_nearest_one(self, tmp_path):
        text = said(tmp_path, workplce='"House"')
        assert "'workplce'" in text
        assert "Did you mean 'workplace'?" in text

    def test_a_misspelt_key_that_is_needed_is_called_misspelt_not_missing(self, tmp_path):
        text = said(tmp_path, occupation=None, ocupation='"a poet"')
        assert "'ocupation'" in text
        assert "Did you mean 'occupation'?" in text

    def test_an_unknown_key_that_is_like_none_is_named(self, tmp_path):
        assert "'zzz'" in said(tmp_path, zzz="1")

    def test_an_accent_is_written_in_one_way_only(self, tmp_path):
        assert persona(tmp_path, name='"Zoe\u0308 Muller"').name == "Zo\u00eb Muller"

    @pytest.mark.parametrize("key", list(GOOD))
    def test_a_missing_key_is_named(self, tmp_path, key):
        text = said(tmp_path, **{key: None})
        assert f"'{key}'" in text
        assert "required" in text

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("age", '"thirty"'),
            ("age", "0"),
            ("age", "36.5"),
            ("age", "[36]"),
            ("name", "7"),
            ("name", '""'),
            ("name", '"  "'),
            ("name", '"Ada:Lovelace"'),
            ("name", '"Ada\\nLovelace"'),
            ("name", '"Ada\\u001b[31m"'),
            ("name", '"\\u001c"'),
            ("name", f'"{"A" * 61}"'),
            ("traits", '" "'),
            ("lifestyle", f'"{"x" * 4001}"'),
            ("home", "true"),
            ("memories", '["Ada lives alone"]'),
            ("known_places", '"Park"'),
        ],
    )
    def test_a_value_of_the_wrong_kind_is_named(self, tmp_path, key, value):
        assert f"'{key}" in said(tmp_path, **{key: value})

    @pytest.mark.parametrize("value", ['"6 am"', '"25:00"', '""', "07:00:00", "7"])
    def test_a_time_that_is_none_is_refused(self, tmp_path, value):
        said(tmp_path, wake=value)


class TestFiles:
    def test_a_missing_file(self, tmp_path):
        assert "does not exist" in refusal(tmp_path / "nobody.toml")

    def test_a_folder(self, tmp_path):
        assert "cannot be read" in refusal(tmp_path)

    def test_a_file_that_is_no_toml_is_answered_with_the_line(self, tmp_path):
        assert "line 2" in refusal(write(tmp_path / "ada.toml", 'name = "Ada"\nage 36\n'))

    def test_a_key_given_twice(self, tmp_path):
        assert "no valid TOML" in refusal(write(tmp_path / "ada.toml", toml(GOOD) + "age = 37\n"))

    def test_a_file_that_is_not_utf8(self, tmp_path):
        latin = toml(GOOD, name='"Zoë"').encode("latin-1")
        assert "UTF-8" in refusal(write(tmp_path / "ada.toml", latin))

    def test_an_empty_file(self, tmp_path):
        assert "'name'" in refusal(write(tmp_path / "ada.toml", ""))


class TestScenario:
    def test_shipped_scenarios_are_found_by_name_and_have_a_cast(self):
        assert "cafe" in scenario_names()
        for name in scenario_names():
            story, file = find_scenario(name)
            assert story.name == name
            assert load_cast(story, file)

    def test_an_unknown_name_is_answered_with_the_nearest_one(self):
        with pytest.raises(ConfigError, match="Did you mean 'cafe'"):
            find_scenario("caffe")
        with pytest.raises(ConfigError, match=r"Known scenarios: .*cafe"):
            find_scenario("zzz")

    def test_a_path_works_too(self, tmp_path):
        file = write(tmp_path / "small.toml", toml(STORY))
        assert find_scenario(str(file))[0].title == "A small town"
        with pytest.raises(ConfigError, match="does not exist"):
            find_scenario(str(tmp_path / "other.toml"))

    def test_it_begins_where_it_says(self, tmp_path):
        story = read_toml(write(tmp_path / "s.toml", toml(STORY, date='"2024-02-29"', start='"7:15"')), Scenario)
        assert story.start_time.iso == "2024-02-29 07:15:00"

    @pytest.mark.parametrize(("key", "value"), [("map", None), ("title", "1"), ("start", '"dawn"'), ("casts", '"x"')])
    def test_a_bad_one_is_refused(self, tmp_path, key, value):
        refusal(write(tmp_path / "s.toml", toml(STORY, **{key: value})), Scenario, ConfigError)


class TestCast:
    @pytest.fixture
    def story(self, tmp_path: Path) -> tuple[Scenario, Path]:
        file = write(tmp_path / "small.toml", toml(STORY))
        for number, name in enumerate(["Klaus Müller", "Ada Lovelace", "李 小龙", "Ada Byron"]):
            write(tmp_path / "people" / f"{number}.toml", toml(GOOD, name=f'"{name}"'))
        return read_toml(file, Scenario), file

    def test_it_is_in_name_order_whatever_the_files_are_called(self, story):
        assert [p.name for p in load_cast(*story)] == ["Ada Byron", "Ada Lovelace", "Klaus Müller", "李 小龙"]

    def test_some_of_it_by_first_or_full_name_each_once(self, story):
        chosen = load_cast(*story, ("李", " klaus müller", "KLAUS", "ada byron"))
        assert [p.name for p in chosen] == ["Ada Byron", "Klaus Müller", "李 小龙"]

    def test_somebody_who_is_not_in_it(self, story):
        with pytest.raises(PersonaError, match="Did you mean 'Klaus Müller'"):
            load_cast(*story, ("Klaus Mueller",))
        with pytest.raises(PersonaError, match="The cast: Ada Byron"):
            load_cast(*story, ("zzz",))

    def test_a_first_name_that_two_have(self, story):
        with pytest.raises(PersonaError, match="more than one"):
            load_cast(*story, ("Ada",))

    def test_two_personas_of_one_name(self, story):
        write(story[1].parent / "people" / "twin.toml", toml(GOOD, name='" Klaus Müller "'))
        with pytest.raises(PersonaError, match="two files describe 'Klaus Müller'"):
            load_cast(*story)

    def test_a_bad_persona_is_named_by_its_file(self, story):
        write(story[1].parent / "people" / "bad.toml", toml(GOOD, age='"old"'))
        with pytest.raises(PersonaError, match=r"bad\.toml: key 'age'"):
            load_cast(*story)

    def test_a_folder_without_personas(self, tmp_path):
        file = write(tmp_path / "small.toml", toml(STORY))
        with pytest.raises(PersonaError, match="no persona files"):
            load_cast(read_toml(file, Scenario), file)


class TestRunConfig:
    def test_it_survives_json(self):
        config = RunConfig(scenario="cafe", model="scripted", start=0, until=10, agents=("Ada",))
        assert RunConfig.model_validate_json(config.model_dump_json()) == config

    @pytest.mark.parametrize("changes", [{"until": 0}, {"step_seconds": 0}, {"step_seconds": 601}, {"sed": 1}])
    def test_settings_that_make_no_run_are_refused(self, changes):
        with pytest.raises(ValidationError):
            RunConfig(**{"scenario": "cafe", "model": "scripted", "start": 0, "until": 10, **changes})

    def test_the_profile_of_the_paper(self):
        profile = Profile()
        assert profile.recency_decay_per_hour == 0.995
        assert (profile.weight_recency, profile.weight_importance, profile.weight_relevance) == (1, 1, 1)
        assert (profile.plan_chunks_min, profile.plan_chunks_max, profile.action_minutes) == (5, 8, (5, 10, 15))
