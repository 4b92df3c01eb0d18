"""Phase 3 of a step: which thought is due for an agent (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from localville.clock import DAY, MINUTE
from localville.config import Profile
from localville.llm.grammars import PlannedAction
from localville.mind.ground import asleep, ground
from localville.mind.identity import summarise_day
from localville.mind.plan import (
    GRAIN,
    SHORTEST_CHUNK,
    bed_time,
    chunk_at,
    day_plan,
    next_actions,
    next_hours,
    wake_hour,
)
from localville.mind.react import WAITING_EMOJI, puts_right, waits
from localville.mind.thought import Action, Thought, View
from localville.sim.facts import Decision
from localville.sim.room import inside, is_full
from localville.sim.town import AgentState, TownState
from localville.world.places import Address, Thing


def due(state: TownState, agent: AgentState, profile: Profile, ways: Mapping[str, str]) -> Thought[Decision] | None:
    """The thought that is due for an agent now, if any; none while it talks."""
    if state.talks_with(agent.name):
        return None
    now = state.now.seconds
    view = view_of(state, agent, profile, ways)
    if agent.asleep:
        if agent.wake_at is None:
            return _decide_waking(view)
        return _get_up(view) if now >= agent.wake_at else None
    action = agent.action
    if action is None or now >= action.end:
        trouble = Address.parse(agent.sees_to) if agent.sees_to else None
        if action is None or trouble not in state.set_states:
            return _go_on(view, agent.planned)
        return _leave_it(view, action.text, state.town.thing(trouble), state.set_states[trouble])
    return _at_a_room(state, agent, action, view)


def _at_a_room(state: TownState, agent: AgentState, action: Action, view: View) -> Thought[Decision] | None:
    """What is due in the middle of an action: to decide before a full room, or to enter it when it is free."""
    if agent.stopped_at:
        room = Address.parse(agent.stopped_at)
        people = inside(state, state.town.arena(room), agent)
        doing = [(other.name, other.activity()) for other in people]
        return _turn_away(view, action, agent.planned, room, doing)
    if agent.waits_for and not is_full(state, Address.parse(agent.waits_for), agent):
        first, *rest = agent.planned
        return _go_on(view, (replace(first, start=state.now.second_of_day), *rest))
    return None


def view_of(state: TownState, agent: AgentState, profile: Profile, ways: Mapping[str, str]) -> View:
    """What an agent may think with now."""
    return View(
        persona=agent.persona,
        now=state.now,
        town=state.town,
        tree=agent.tree,
        at=state.town.where(agent.tile),
        profile=profile,
        ways=ways,
        doing=agent.activity(),
        people=tuple(other.name for other in state.agents),
        summary=agent.summary,
        promises=agent.promises,
        day_plan=agent.day_plan,
        hours=agent.hours,
        done_today=agent.done_today,
        avoids=tuple(Address.parse(room) for room, until in agent.avoids.items() if until > state.now.seconds),
    )


def due_at(agent: AgentState) -> int:
    """Game seconds at which an agent next has something to decide."""
    if agent.asleep:
        return 0 if agent.wake_at is None else agent.wake_at
    return 0 if agent.action is None else agent.action.end


def _decide_waking(view: View) -> Thought[Decision]:
    """Settles when a sleeper gets up; one that should be up already gets up at once."""
    too_late = view.now.second_of_day > bed_time(view.persona) - SHORTEST_CHUNK
    night = _tomorrow(view) if too_late else view
    second = yield from wake_hour(night)
    wake_at = night.now.at(second).seconds
    if wake_at <= view.now.seconds:
        return (yield from _get_up(view))
    return Decision(wake_at=wake_at, action=asleep(view, view.now.seconds, wake_at))


def _get_up(view: View) -> Thought[Decision]:
    """Plans the day and begins it."""
    # What it has done is of yesterday until it gets up; on the first day there is none.
    yesterday = (yield from summarise_day(view)) if view.done_today else ""
    plan = yield from day_plan(view, yesterday)
    started = replace(view, day_plan=plan, hours=(), done_today=())
    begun = yield from _go_on(started, ())
    return begun._replace(wakes=True, day_plan=plan, yesterday=yesterday)


def _go_on(view: View, planned: tuple[PlannedAction, ...]) -> Thought[Decision]:
    """Takes the next action of the plan; splits the next hour, or part of the day, when there is none; ends in bed."""
    second = view.now.second_of_day
    chunk = chunk_at(view.day_plan, second)
    if chunk is None or view.now.seconds >= view.now.at(bed_time(view.persona)).seconds:
        tomorrow = _tomorrow(view) if second >= bed_time(view.persona) else view
        wake = yield from wake_hour(tomorrow)
        wake_at = tomorrow.now.at(wake).seconds
        return Decision(wake_at=wake_at, planned=(), action=asleep(view, view.now.seconds, wake_at))
    # What a walk or a pause has made obsolete is dropped, so that the plan keeps to the clock.
    left = tuple(action for action in planned if action.start + action.minutes * MINUTE > second)
    hours = None
    if not left:
        if chunk_at(view.hours, second - second % GRAIN) is None:
            hours = yield from next_hours(view)
            view = replace(view, hours=hours)
        left = yield from next_actions(view)
    first = left[0]
    end = view.now.at(first.start + first.minutes * MINUTE).seconds
    action = yield from ground(view, first.text, chunk.place, view.now.seconds, end)
    return Decision(hours=hours, planned=left[1:], action=action)


def _leave_it(view: View, text: str, thing: Thing, state: str) -> Thought[Decision]:
    """Looks at what has come of seeing to a thing, and plans what is left of the hour anew."""
    done = yield from puts_right(view, text, thing, state)
    return (yield from _go_on(view, ()))._replace(put_right=done)


def _turn_away(
    view: View, action: Action, planned: tuple[PlannedAction, ...], room: Address, people: list[tuple[str, str]]
) -> Thought[Decision]:
    """Waits before a full room, or plans what is left of the hour anew without it."""
    profile, now = view.profile, view.now
    if (yield from waits(view, action.text, room.arena, people)):
        end = now.seconds + profile.wait_minutes * MINUTE
        later = PlannedAction(end - now.midnight.seconds, (action.end - action.start) // MINUTE, action.text)
        text = f"waiting for the {room.arena} to be free"
        waiting = Action(now.seconds, end, text, view.at, "", WAITING_EMOJI)
        return Decision(planned=(later, *planned), action=waiting, full=str(room), waits=True)
    done = (*view.done_today[:-1], (now.second_of_day, f"finding the {room.arena} taken"))
    decision = yield from _go_on(replace(view, done_today=done, avoids=(*view.avoids, room)), ())
    return decision._replace(full=str(room), avoid_seconds=profile.avoid_minutes * MINUTE)


def _tomorrow(view: View) -> View:
    return replace(view, now=view.now.midnight + DAY)
