"""What is silly in speech can be told without a model."""

from __future__ import annotations

import pytest

from localville.mind.speech import best_utterance, faults_of
from tests.mind.driving import think
from tests.people import somebody

ADA, ZOE = somebody("Ada Lovelace"), somebody("Zoë 李")
SAID = ["Hey Zoë, the engine can do sums now.", "Really? Show me how it does them."]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("It takes a card for each step.", 0),
        ("I hope to see Zoë 李 today.", 1),
        ("Ada Lovelace wants to finish her notes.", 1),
        ("Zoë, it takes a card for each step.", 0),
        ("Hello Zoë, how are you?", 1),
        ("I have to go, see you tomorrow!", 1),
        ("As I said, the engine can do sums now.", 1),
        ("It runs and it runs and it runs and it runs.", 1),
        ("Zoë, I will take Zoë to the park.", 1),
        ("Nadia and I want to swim across the lake.", 1),
        ("Hi, see you, Zoë 李!", 3),
    ],
)
def test_faults_are_what_people_do_not_say(text: str, faults: int) -> None:
    assert faults_of(text, ADA, ZOE, SAID, leaving=False) == faults


def test_a_greeting_is_none_in_the_first_lines_of_the_day() -> None:
    assert faults_of("Hello Zoë, how are you?", ADA, ZOE, [], leaving=False) == 0
    assert faults_of("Hello Ada!", ZOE, ADA, SAID[:1], leaving=False) == 0
    assert faults_of("Hello Zoë, how are you?", ADA, ZOE, [], leaving=False, met=True) == 1


def test_who_takes_leave_says_goodbye_and_asks_nothing() -> None:
    assert faults_of("I have to go, see you tomorrow!", ADA, ZOE, SAID, leaving=True) == 0
    assert faults_of("What do you think of it?", ADA, ZOE, SAID, leaving=True) == 1


def test_somebody_of_a_single_name_may_be_called_by_it() -> None:
    assert faults_of("I hope to see Plato today.", ADA, somebody("Plato"), SAID, leaving=False) == 0


def test_whoever_is_called_like_somebody_in_the_examples_may_be_spoken_of() -> None:
    assert faults_of("Nadia, come and look.", ADA, somebody("Nadia Petrova"), SAID, leaving=False) == 0


def test_the_better_draft_is_said_and_the_first_of_equals() -> None:
    def best(*drafts: str) -> tuple[str, bool]:
        return think(best_utterance(drafts, ADA, ZOE, SAID, ["Ada has shuffled the cards"], leaving=False, met=False))[
            0
        ]

    assert best("See you tomorrow!", "It takes a card for each step.") == ("It takes a card for each step.", False)
    assert best("One step.", "Two steps.") == ("One step.", False)
    assert best("It does it in steps.", "I have shuffled the cards.") == ("I have shuffled the cards.", False)
    assert best(SAID[1], SAID[1]) == (SAID[1], True)
    assert best("Then the engine can do sums now?") == ("Then the engine can do sums now?", True)
    assert best(SAID[1], "Goodbye and see you!") == ("Goodbye and see you!", False)
