"""What is taken for granted in a trial, held against what was found when it was over.

Enters: an opened target, reset for a trial; later what the trial has seen. Leaves: the guards'
remarks, and both fingerprints for trial.json. Never: does any work while the load is measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from pgassay.errors import TargetError
from pgassay.plan.model import Arm
from pgassay.spec.parse import Spec
from pgassay.target.protocol import NOTHING, ServerFacts, Target
from pgassay.trials.fingerprint import take_fingerprint
from pgassay.trials.foreign_sessions import foreign_load, foreign_maintenance, measured_window
from pgassay.trials.guards import Evidence, Remark, judge
from pgassay.trials.host_look import look_at
from pgassay.trials.processor_times import (
    ProcessorSplit,
    ProcessorTimes,
    of_all_servers,
    processor_times,
    split_between,
)
from pgassay.trials.record import Checkpoint, Columns
from pgassay.trials.requested_checkpoints import DECIDED_BY, told_apart
from pgassay.trials.thresholds import Limits, overlaid


class SamenessWatch:
    """Two looks at a target with a trial's load between them; the first is taken here."""

    def __init__(
        self,
        target: Target,
        facts: ServerFacts,
        own_limits: Limits,
        beside: Collection[int | None] = (),
    ) -> None:
        """`beside` are the postmasters of other servers under test, whose work is not foreign."""
        self._target, self._facts, self._beside = target, facts, beside
        self._own_limits, self._limits = own_limits, overlaid(own_limits)
        self._before = self._after = take_fingerprint(target, facts)
        self._processors: ProcessorSplit | None = None

    @property
    def postmaster(self) -> int | None:
        """The server's process id on its host; None where that cannot be known."""
        return self._before.postmaster

    @contextmanager
    def processors_counted(self) -> Iterator[None]:
        """Around the load: whose the processors' time was."""
        began = self._processor_times()
        yield
        self._processors = split_between(began, self._processor_times())

    def remarks(
        self,
        spec: Spec,
        arm: Arm,
        result: Mapping[str, Any],
        waits: Mapping[str, Iterable[Any]],
        counters: Columns,
        checkpoints: Sequence[Checkpoint],
        reloading: Mapping[str, Any] = NOTHING,
    ) -> list[Remark]:
        """The second look, and what the guards say to the trial."""
        self._after = take_fingerprint(self._target, self._facts)
        window = measured_window(result["steps"])
        fewest = self._limits["foreign-sessions"]["fewest_samples"]
        host = self._target.host()
        is_engine = spec.file.load.command is None
        varied = spec.file.factors.postgres.keys()
        in_turn = arm.alternating and DECIDED_BY & varied
        told = checkpoints if in_turn else told_apart(checkpoints, counters, self._before)
        evidence = Evidence(
            before=self._before,
            after=self._after,
            processors=self._processors,
            foreign_load=foreign_load(waits, window, fewest) if is_engine else None,
            # What a program of the user's does besides its load is its own.
            maintenance=foreign_maintenance(counters, window) if is_engine else (),
            checkpoints=[c for c in told if window[0] <= c.started_ns < window[1]],
            scripts=[s.script for s in spec.workload.scenarios] if is_engine else None,
            settings={*spec.file.settings.postgres, *arm.levels_of("postgres")},
            varied=varied,
            awaits_outages=bool(result.get("outages")),
            shares_clock=host is None or not host.name,
            late_reloads=(
                (reloading["late"] + reloading["disturbed"]) / max(1, reloading["edges"])
                if reloading
                else None
            ),
        )
        return judge(evidence, self._limits)

    def _processor_times(self) -> ProcessorTimes | None:
        """None where nobody tells; the second look at the host says so."""
        host = self._target.host()
        postmasters = (self.postmaster, *self._beside)
        if host is None or None in postmasters:
            return None
        with suppress(TargetError):
            return of_all_servers(
                [processor_times(look_at(host, None, postmaster=one)) for one in postmasters]
            )
        return None

    def described(self) -> dict[str, Any]:
        """For trial.json; after the trial only what has changed of the settings."""
        return {
            "before": self._before.described(),
            "after": self._after.described_after(self._before),
            "own_thresholds": {guard: dict(limit) for guard, limit in self._own_limits.items()},
            "processors": self._processors
            and {name: round(seconds, 3) for name, seconds in asdict(self._processors).items()},
        }
