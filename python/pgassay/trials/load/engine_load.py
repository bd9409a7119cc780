"""One load of the engine, on one generator or many.

Enters: a request, a connection, generators. Leaves: the result and the interval columns of the
whole load. Never: leaves a load running, whatever interrupts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pgassay import _core
from pgassay.errors import TrialError
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.hosts.placement import Place
from pgassay.server.protocol import ConnectionParameters
from pgassay.trials.load.engine import COUNTS, LAST_S, LoadRequest
from pgassay.trials.load.generator import OF_THE_SESSION, ServerByName
from pgassay.trials.load.group import ClockOffset, GeneratorLost, Generators
from pgassay.trials.load.slices import with_variants
from pgassay.trials.model.record import Columns

_POLL_S = 0.2
_CALL_S = 0.002
"""What a call of one more generator takes of this process."""
_ANSWER_S = 10.0
"""A node that does not answer for so long has lost its network, or cannot measure."""
_OPENING_S = 600.0
_COLLECTING_S = 120.0
REPORTS_AT_A_TIME = 8
"""So that no more of them are in memory; many merge faster than one after the other."""
_LEAD_S = 0.25
"""From saying when to begin until then; also the slowest message must have arrived."""
Tell = Callable[[int, float], None]
Watch = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class _Began:
    """When one generator began, by our clock."""

    name: str
    at_ns: int
    clock_error_ns: int


class EngineLoad:
    """The load of one trial, made by pgassay's own engine; its connections are open once this is
    made."""

    leading_bits: int | None = _core.LEADING_BITS
    kept: tuple[Path, ...] = ()

    def __init__(
        self,
        request: LoadRequest,
        connection: ConnectionParameters,
        generators: Generators,
        *,
        dsn: str = "",
        place: Place | None = None,
        tell: Tell | None = None,
    ) -> None:
        """`dsn` is what generators on other machines find the server by; `tell` is called every few
        seconds with how many connections are being opened, and for how long (s).

        Raises ConnectionRefused, SetupError, SpecError, GeneratorLost.
        """
        self._request, self._connection, self._generators = request, connection, generators
        self._place = place
        self.placed: Mapping[str, str] = {}
        self._merged: _core.Merged | None = None
        self._result: dict[str, Any] = {}
        shares, server = len(generators.names), self._server(dsn)
        try:
            contents = self._contents_lacking()
            asked = [
                (replace(request, share=(place, shares), contents=own), server)
                for place, own in enumerate(contents)
            ]
            opened = generators.each("open", asked, _OPENING_S, tell=tell)
            generators.refuse_other_server(connection, opened)
        except BaseException as error:
            self._stop(error)
            raise
        self.backends = frozenset(pid for pids in opened for pid in pids)
        """The server's processes of the connections, as opened."""
        self.native = generators.native

    def _contents_lacking(self) -> list[Mapping[str, bytes]]:
        """Of each generator: the files of parameters that it has not, by their hash."""
        files, count = self._request.parameter_files, len(self._generators.names)
        if not files or not self._generators.are_remote:
            return [{} for _ in range(count)]
        from pgassay.trials.load.parameters import content_of  # pyarrow, for these alone

        lacking = self._generators.each("lacking", [(files,)] * count, _ANSWER_S)
        wanted = {sha256 for own in lacking for sha256 in own}
        contents = {one.sha256: content_of(one) for one in files if one.sha256 in wanted}
        return [{sha256: contents[sha256] for sha256 in own} for own in lacking]

    def _server(self, dsn: str) -> ServerByName | ConnectionParameters:
        if not self._generators.are_remote:
            return self._connection
        reached = self._connection
        return ServerByName(dsn, {name: getattr(reached, name) for name in OF_THE_SESSION})

    def run(self, watch: Watch, own_transactions: Callable[[], int] = lambda: 0) -> dict[str, Any]:
        """Runs the load to its end; `watch` gets the progress a few times a second."""
        try:
            offsets = self._generators.offsets()
            self._start(offsets)
            self._follow(watch)
            self._result = self._collect(offsets)
        except BaseException as error:
            self._stop(error)
            raise
        return self._result

    def intervals(self) -> Columns:
        """Returns the columns of `Load.intervals`."""
        if self._merged is None:
            raise TrialRefused("not-prepared", step="intervals")
        return with_variants(self._merged.intervals(), self._result)

    def stored(self) -> dict[str, Any]:
        """Returns nothing: a `TrialRecord` has nothing of this load alone."""
        return {}

    def _start(self, offsets: list[ClockOffset]) -> None:
        if not self._generators.are_remote:
            begin: list[tuple[int | None, Place | None]] = [(None, self._place)]
        else:
            slowest_ns = 2 * max(one.error_ns for one in offsets)
            lead_s = _LEAD_S + 4 * slowest_ns / 1e9 + _CALL_S * len(offsets)
            common_ns = _core.now_ns() + round(lead_s * 1e9)
            begin = [(common_ns + one.theirs_minus_ours_ns, None) for one in offsets]
        self.placed = self._generators.each("start", begin, _ANSWER_S)[0]

    def _follow(self, watch: Watch) -> None:
        count = len(self._generators.names)
        every_s = _POLL_S + _CALL_S * (count - 1)
        pause_s = every_s
        while True:
            found = self._generators.each("progress", [(pause_s,)] * count, _ANSWER_S + pause_s)
            if all(one["ended"] for one in found):
                return
            progress = whole_progress(found)
            watch(progress)
            # Read at even times of the load's own clock, so that lines come when they are due.
            pause_s = every_s - progress["elapsed_s"] % every_s

    def _stop(self, why: BaseException) -> None:
        """Every load that is left, and its connections. What lost generators had at the server it
        would keep, with its locks, until TCP gives their machines up."""
        nobody: list[tuple[()]] = [()] * len(self._generators.names)
        with suppress(TrialError):
            self._generators.each("stop", nobody, LAST_S + 2)
        if isinstance(why, GeneratorLost):
            self._generators.end_sessions(self._connection)

    def _collect(self, offsets: list[ClockOffset]) -> dict[str, Any]:
        generators = self._generators
        try:
            began, self._merged = self._merge(offsets)
        except _core.CoreError as error:
            raise TrialRefused("load-failed", why=error) from None
        result: dict[str, Any] = json.loads(self._merged.result())
        first_ns = min(one.at_ns for one in began)
        for step in result["steps"]:
            asked = self._request.steps[step["index"]].rate
            if asked is not None:
                step.setdefault("rate", asked)
        figures = result.pop("generators")
        if generators.are_remote:
            result["generators"] = [
                {
                    "name": one.name,
                    "start_skew_ms": (one.at_ns - first_ns) / 1e6,
                    "clock_error_ms": one.clock_error_ns / 1e6,
                    **own,
                }
                for one, own in zip(began, figures, strict=True)
            ]
        return result

    def _merge(self, offsets: list[ClockOffset]) -> tuple[list[_Began], _core.Merged]:
        names = self._generators.names
        merging = _core.Merging(self._request.configuration(self._connection))
        began: list[_Began] = []
        for first in range(0, len(names), REPORTS_AT_A_TIME):
            places = range(len(names))[first : first + REPORTS_AT_A_TIME]
            reports = self._generators.some(places, "report", _COLLECTING_S)
            merging.add([counted for _, counted in reports])
            for place, (started_ns, _) in zip(places, reports, strict=True):
                at_ns = started_ns - offsets[place].theirs_minus_ours_ns
                began.append(_Began(names[place], at_ns, offsets[place].error_ns))
            del reports
        return began, merging.finish(min(one.at_ns for one in began))


def whole_progress(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Combines the progress of several generators: sums, and the step of the one that is
    furthest."""
    furthest = max(found, key=lambda one: one["elapsed_s"])
    return {**furthest, **{name: sum(one[name] for one in found) for name in (*COUNTS, "tps")}}
