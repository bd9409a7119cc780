"""Calls of actors, many at a time.

Enters: actors, a method and its arguments. Leaves: what the methods return, in order, or the error
that one raised. Never: waits for ever; an actor that is gone or silent is an `ActorLost`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import Refused, SetupRefused

_LOOK_S = 1.0
"""After so long an error is seen even if others are still at work: they may be, for hours."""


class ActorLost(Refused):
    """The error for an actor that has ended or does not answer any more, or that says so of what it
    drives."""

    def __init__(self, code: str, places: Sequence[int] = (), /, **values: Any) -> None:
        super().__init__(code, **values)
        self.places = tuple(places)
        """Which of those that were called."""

    def at(self, *places: int) -> ActorLost:
        """Returns the same error of those that were called."""
        return ActorLost(self.code, places, **self.values)


@dataclass(frozen=True)
class Actor:
    """A handle of an actor."""

    ray: Any
    handle: Any
    about: Mapping[str, Any] = field(default_factory=dict)
    """What it says of its machine (`OnNode.about`), by a name that no other actor has."""

    @property
    def name(self) -> str:
        return str(self.about["name"])

    def ask(self, method: str, arguments: Sequence[Any] = ()) -> Any:
        """Begins a call; what it returns comes by `answers_of`."""
        return getattr(self.handle, method).remote(*arguments)

    def end(self) -> None:
        """Ends the actor's process."""
        self.ray.kill(self.handle)


def answers(calls: Sequence[tuple[Actor, str, Sequence[Any]]], limit_s: float) -> list[Any]:
    """Calls all methods at the same time and returns their answers; raises what a method raised,
    else ActorLost."""
    found = answers_or_losses(calls, limit_s)
    lost = {place: one for place, one in enumerate(found) if isinstance(one, ActorLost)}
    if lost:
        raise lost[min(lost)].at(*lost)
    return found


def answers_or_losses(
    calls: Sequence[tuple[Actor, str, Sequence[Any]]], limit_s: float
) -> list[Any]:
    """Returns what each returned, or the ActorLost of one that is gone or silent; raises what a
    method raised.

    An error that an actor raised ends the wait for the others, and goes before the loss of another,
    which may follow from it.
    """
    if not calls:
        return []
    ray = calls[0][0].ray
    asked = [actor.ask(method, arguments) for actor, method, arguments in calls]
    places = {reference: place for place, reference in enumerate(asked)}
    found: dict[int, Any] = {}
    lost: dict[int, ActorLost] = {}
    deadline = time.monotonic() + limit_s
    while places:
        left_s = max(deadline - time.monotonic(), 0.0)
        ready, _ = ray.wait(list(places), num_returns=len(places), timeout=min(left_s, _LOOK_S))
        for reference in ready:
            place = places.pop(reference)
            try:
                found[place] = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                cause = _cause(error)
                if not isinstance(cause, ActorLost):
                    raise cause from None
                lost[place] = cause.at(place)
            except ray.exceptions.RayError as error:
                lost[place] = _ended(error, place)
        if left_s == 0.0:
            lost |= {place: _silent(limit_s, place) for place in places.values()}
            break
    return [lost.get(place) or found[place] for place in range(len(calls))]


def outcomes(calls: Sequence[tuple[Actor, str, Sequence[Any]]], limit_s: float) -> list[Any]:
    """Returns what each returned, or the error that came of it: no error ends the wait for
    another."""
    if not calls:
        return []
    ray = calls[0][0].ray
    asked = [actor.ask(method, arguments) for actor, method, arguments in calls]
    late, deadline = list(asked), time.monotonic() + limit_s
    while late and (left_s := deadline - time.monotonic()) > 0.0:
        _, late = ray.wait(late, num_returns=len(late), timeout=min(left_s, _LOOK_S))
    silent = set(late)
    return [
        _silent(limit_s, place) if reference in silent else _outcome(ray, reference, place)
        for place, reference in enumerate(asked)
    ]


def _outcome(ray: Any, reference: Any, place: int) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        return _cause(error)
    except ray.exceptions.RayError as error:
        return _ended(error, place)


def _cause(error: Any) -> BaseException:
    """What the method raised; an error of ours is raised again as it was."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, PgassayError | KeyboardInterrupt):
        return cause
    return SetupRefused("node-failed", kind=type(cause).__name__, why=cause)


def _silent(limit_s: float, place: int) -> ActorLost:
    return ActorLost("actor-silent", (place,), seconds=limit_s)


def _ended(error: BaseException, place: int) -> ActorLost:
    """What happened, by the line of Ray's message that says so: of a traceback, the error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    line = (errors[-1:] or lines[:1] or [type(error).__name__])[0]
    code = "actor-without-pgassay" if "No module named 'pgassay" in line else "actor-ended"
    return ActorLost(code, (place,), why=line)
