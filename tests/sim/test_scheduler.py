"""The scheduler serves thoughts: each gets its own answers, seeds have names, memories are touched when all is over."""

from __future__ import annotations

import pytest

from localville.chance import seed_for
from localville.clock import SimTime
from localville.config import Profile
from localville.llm.engine import Ask, Choose, Part, Prompt
from localville.llm.scripted import ScriptedEngine
from localville.memory.embed import HashingEmbedder
from localville.memory.index import MemoryIndex
from localville.memory.stream import MemoryKind, MemoryStream
from localville.mind.thought import Compare, Recall, Thought
from localville.sim.scheduler import Scheduler, Task
from localville.sim.town import AgentState
from localville.world.grid import Tile
from localville.world.residents import starting_tree
from tests.people import somebody, street
from tests.sim.living import Shuffled

NOW = SimTime.of("2023-02-13", "08:00")
EARLIER = SimTime.of("2023-02-13", "07:00")
EMBEDDER = HashingEmbedder()


def agent(name: str, *memories: str) -> AgentState:
    """Somebody who remembers these, made an hour ago."""
    person = somebody(name)
    stream, index = MemoryStream(name), MemoryIndex(EMBEDDER.dimension)
    for text in memories:
        memory = stream.append(text, MemoryKind.OBSERVATION, EARLIER, 5)
        index.add(memory.id, EMBEDDER.embed([text])[0])
    return AgentState(person, Tile(2, 2), starting_tree(street(), person), stream, index)


ADA, BEN = "Ada", "Ben"


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler(ScriptedEngine({"echo": lambda ask, _: ask.prompt.text()}), EMBEDDER, Profile(), 7)


def ask(text: str, purpose: str = "echo") -> Ask:
    """A question that the scripted engine answers with its own text."""
    return Ask(purpose, Prompt((Part("situation", text),)), Choose((text, "something else")))


def asking(*texts: str) -> Thought[list[str]]:
    answers = []
    for text in texts:
        answer = yield ask(text)
        answers.append(answer.value)
    return answers


def recalling(query: str, k: int) -> Thought[tuple[str, ...]]:
    memories = yield Recall(query, k)
    return tuple(memory.text for memory in memories)


def test_each_thought_gets_its_own_answers(scheduler):
    tasks = [Task(agent(ADA), asking("a", "b", "c")), Task(agent(BEN), asking("x")), Task(agent("Cy"), asking())]
    scheduler.run(tasks, 1, NOW)
    assert [(task.done, task.result) for task in tasks] == [(True, ["a", "b", "c"]), (True, ["x"]), (True, [])]


def test_nothing_to_do_is_fine(scheduler):
    assert scheduler.run([], 1, NOW) == []


def test_the_account_is_in_the_order_of_tasks_then_of_questions(scheduler):
    asked = scheduler.run([Task(agent(BEN), asking("x", "y")), Task(agent(ADA), asking("a"))], 1, NOW)
    assert [(one.agent, one.answer.value) for one in asked] == [(BEN, "x"), (BEN, "y"), (ADA, "a")]


def test_a_seed_is_named_by_run_agent_step_topic_purpose_thought_and_how_often(scheduler):
    ada = agent(ADA)
    tasks = [Task(ada, asking("a", "b"), "act"), Task(ada, asking("c"), "act"), Task(ada, asking("d"), "remember")]
    asked = scheduler.run(tasks, 4, NOW)
    names = [("a", "act", 0, 0), ("b", "act", 0, 1), ("c", "act", 1, 0), ("d", "remember", 0, 0)]
    assert {(one.answer.value, one.seed) for one in asked} == {
        (text, seed_for(7, ADA, 4, topic, "echo", thought, ordinal)) for text, topic, thought, ordinal in names
    }


@pytest.mark.parametrize("dice", range(5))
def test_several_questions_at_once_are_answered_in_their_order(scheduler, dice):
    def drafting(*groups: str) -> Thought[list[str]]:
        said = []
        for group in groups:
            answers = yield tuple(ask(text) for text in group)
            said.append("".join(answer.value for answer in answers))
        return said

    scheduler.engine = Shuffled(dice, lambda: ScriptedEngine({"echo": lambda ask, _: ask.prompt.text()}))
    tasks = [Task(agent(ADA), drafting("abc", "d")), Task(agent(BEN), drafting("xyz", "uvw"))]
    asked = scheduler.run(tasks, 4, NOW)
    assert [task.result for task in tasks] == [["abc", "d"], ["xyz", "uvw"]]
    assert "".join(one.answer.value for one in asked) == "abcdxyzuvw"
    assert len({one.seed for one in asked}) == len(asked)


@pytest.mark.parametrize("dice", range(5))
def test_the_order_of_answers_changes_no_seed_even_within_one_head(scheduler, dice):
    def tasks() -> list[Task]:
        ada = agent(ADA)
        return [Task(ada, asking("a", "b", "c")), Task(agent(BEN), asking("x", "y")), Task(ada, asking("d", "e"))]

    expected = [(one.answer.value, one.seed) for one in scheduler.run(tasks(), 4, NOW)]
    scheduler.engine = Shuffled(dice, lambda: ScriptedEngine({"echo": lambda ask, _: ask.prompt.text()}))
    assert [(one.answer.value, one.seed) for one in scheduler.run(tasks(), 4, NOW)] == expected


def test_who_else_thinks_does_not_change_a_seed(scheduler):
    (alone,) = scheduler.run([Task(agent(ADA), asking("a"))], 4, NOW)
    others = [Task(agent(BEN), asking("x", "y")), Task(agent(ADA), asking("a"))]
    assert scheduler.run(others, 4, NOW)[-1].seed == alone.seed


def test_every_answer_is_told_as_it_comes(scheduler):
    told = []
    scheduler.on_answer = told.append
    asked = scheduler.run([Task(agent(ADA), asking("a", "b"))], 1, NOW)
    assert told == asked


def test_recalling_gives_the_best_texts_first_and_touches_them(scheduler):
    ada = agent(ADA, "Ada bakes bread", "Ada likes to play the piano", "a bird sings")
    task = Task(ada, recalling("who will play the piano", 2))
    scheduler.run([task], 1, NOW)
    assert task.result[0] == "Ada likes to play the piano"
    assert len(task.result) == 2
    assert [memory.last_access for memory in ada.stream if memory.text in task.result] == [NOW, NOW]
    assert sum(memory.last_access == EARLIER for memory in ada.stream) == 1


def test_no_thought_sees_what_another_recalled(scheduler):
    """Both read the same snapshot: the second finds what it would have found alone."""
    memories = ("Ada bakes bread", "Ada plays the piano", "Ada reads a book")
    both = agent(ADA, *memories)
    tasks = [Task(both, recalling("bread", 1)), Task(both, recalling("Ada reads", 3))]
    scheduler.run(tasks, 1, NOW)
    alone = Task(agent(ADA, *memories), recalling("Ada reads", 3))
    scheduler.run([alone], 1, NOW)
    assert tasks[1].result == alone.result


def test_people_recall_their_own_memories_only(scheduler):
    tasks = [Task(agent(ADA, "Ada bakes bread"), recalling("bread", 5)), Task(agent(BEN), recalling("bread", 5))]
    scheduler.run(tasks, 1, NOW)
    assert [task.result for task in tasks] == [("Ada bakes bread",), ()]


def test_comparing_gives_a_likeness_for_each(scheduler):
    def comparing() -> Thought[tuple[float, ...]]:
        return (yield Compare("play the piano", ("play the piano", "piano", "bake bread")))

    task = Task(agent(ADA), comparing())
    scheduler.run([task], 1, NOW)
    same, close, far = task.result
    assert same == pytest.approx(1)
    assert same > close > far


def test_all_lookups_of_a_moment_are_embedded_in_one_call():
    class Counting(HashingEmbedder):
        calls = 0

        def embed(self, texts):
            self.calls += 1
            return super().embed(texts)

    embedder = Counting()
    tasks = [Task(agent(name, f"{name} sings"), recalling("singing", 1)) for name in (ADA, BEN, "Cy")]
    Scheduler(ScriptedEngine(), embedder, Profile(), 0).run(tasks, 1, NOW)
    assert embedder.calls == 1


def test_a_thought_that_fails_is_not_hidden(scheduler):
    def failing() -> Thought[None]:
        yield ask("a")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scheduler.run([Task(agent(ADA), failing())], 1, NOW)
