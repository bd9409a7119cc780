"""One server of a fleet, in a process on its own node.

Enters: a spec and its plan; planned trials, one at a time. Leaves: what was found while the server
was prepared, and the record of each trial. Never: stores a record, runs two trials at once, or
leaves its server behind when it is closed.
"""

from __future__ import annotations

import platform
import tempfile
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pgassay.cluster.calls import ActorLost
from pgassay.cluster.nodes import OnNode
from pgassay.errors import PgassayError, RestoreFailed, TargetError
from pgassay.findings.noise.busy import busy_host
from pgassay.fleet.asking import WAIT_S, Answer, Ask, AskingJournal, Place
from pgassay.interruption import forget_request, request_stop
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.refusals.refusal import TrialRefused, opened
from pgassay.server.change import Change
from pgassay.server.comparison import Comparison
from pgassay.server.protocol import Journal, ServerFacts
from pgassay.spec.experiment import Spec
from pgassay.spec.secrets.redaction import shown_of
from pgassay.trials.model.record import FailedTrial, TrialRecord
from pgassay.trials.run.preparing import others_on_host, prepare
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.refusals.before_servers import refuse_experiment, refuse_plan
from pgassay.trials.run.refusals.of_servers import refuse_arms
from pgassay.trials.run.testbeds import target_of, testbeds_of
from pgassay.trials.run.trial import TrialContext, run_trial

OTHERS = "other_programs"
"""The key of environment.json under which it is what other programs use of the host."""
_LOST = ("08", "57P01", "57P02", "57P03")
"""SQLSTATE of a connection that is lost (class 08), of a server that stops, crashes or starts."""


@dataclass(frozen=True)
class OpenedMember:
    """A server that is ready for trials."""

    facts: ServerFacts
    environment: dict[str, Any]
    warnings: tuple[str, ...]


class NoJournal:
    """The journal of a server of pgassay's own, of which nothing is to be undone: the next run on
    its node removes it."""

    place = run = machine = ""

    def record(self, change: Change) -> None:
        """Keeps nothing."""

    def undone(self, change_id: str) -> None:
        """Keeps nothing."""


class _Warnings(ProgressListener):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def warned(self, text: str) -> None:
        self.texts.append(text)


class Member(OnNode):
    """An actor: `open`, then `run` once per trial, then `close`; `stop` and `next_ask` from
    beside."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._files = tempfile.TemporaryDirectory(prefix="pgassay-load-")
        self._trials: TrialContext | None = None
        self._asking: AskingJournal | None = None
        self._asks = threading.Event()

    def open(self, spec: Spec, plan: Plan, noted_at: Place | None = None) -> OpenedMember:
        """Starts the server, or reaches the existing one, whose changes are noted at that place;
        builds the data. Closes the server again where that fails; raises ActorLost where it went
        meanwhile."""
        with self._one_at_a_time:
            placement = refuse_experiment(spec)
            refuse_plan(spec, plan, on_node=True)
            testbeds, warnings = testbeds_of(spec, plan), _Warnings()
            journal: Journal = NoJournal()
            if noted_at is not None:
                self._asking = journal = AskingJournal(noted_at)
                self._asks.set()
            target = target_of(spec.file, spec.folder, testbeds, journal, placement.server)
            try:
                target.open()
                refuse_arms(spec, plan, target, testbeds)
                others = others_on_host(target)
                found = prepare(spec, plan, target, testbeds, warnings)
                environment = found.environment(target, placement)
                if others is not None:
                    environment[OTHERS] = others.described()
                if (busy := busy_host(others, None)) is not None:
                    warnings.warned(str(busy))
                facts = shown_facts(target.facts())
            except BaseException as error:
                # What cannot be undone from here is in the journal, for the machine of the run.
                with suppress(RestoreFailed):
                    target.close()
                if isinstance(error, TargetError) and _is_loss(error):
                    raise ActorLost("server-lost", why=error) from None
                if isinstance(error, PgassayError) and error.args:
                    error.args = (f"on {platform.node()}: {error.args[0]}", *error.args[1:])
                raise
            self._trials = TrialContext(
                spec,
                plan,
                target,
                testbeds,
                ProgressListener(),
                self._output_folder,
                _not_noted,
                placement,
                notes=found.notes,
            )
            warned = (*placement.warnings, *warnings.texts)
            return OpenedMember(facts, environment, warned)

    def run(self, trial: PlannedTrial, known_texts: Collection[str], resumed: bool) -> TrialRecord:
        """Runs one trial. Raises ActorLost where the server is gone, else what the trial raised."""
        with self._one_at_a_time:
            trials = self._opened()
            context = replace(trials, known_texts=lambda: known_texts)
            try:
                return run_trial(trial, context, resumed=resumed)
            except KeyboardInterrupt:
                # Ray would take it for its own, of which the caller learns nothing.
                raise TrialRefused("trial-stopped", number=trial.number) from None
            except PgassayError as error:
                if _is_loss(error.__cause__) or not self._answers():
                    raise ActorLost("server-lost", why=error) from None
                raise

    def next_ask(self, answer: Answer | None) -> Ask | None:
        """Returns what is to be noted before it is changed (`AskingJournal.next_ask`)."""
        self._asks.wait(WAIT_S)
        return None if self._asking is None else self._asking.next_ask(answer)

    def stop(self) -> None:
        """Breaks off the trial that runs."""
        request_stop()

    def close(self) -> Comparison | None:
        """Stops and removes the server when its trial has ended; returns how an existing one was
        left."""
        with self._one_at_a_time:
            forget_request()
            trials, self._trials = self._trials, None
            try:
                if trials is not None:
                    trials.target.close()
            finally:
                self._files.cleanup()
            return None if trials is None else trials.target.compared()

    def _opened(self) -> TrialContext:
        return opened(self._trials)

    def _answers(self) -> bool:
        with suppress(PgassayError):
            self._opened().target.connect().close()
            return True
        return False

    def _output_folder(self, number: int) -> Path:
        folder = Path(self._files.name) / f"{number:04d}"
        folder.mkdir(exist_ok=True)
        return folder


def _is_loss(error: BaseException | None) -> bool:
    return isinstance(error, TargetError) and (error.sqlstate or "").startswith(_LOST)


def shown_facts(facts: ServerFacts) -> ServerFacts:
    """Returns facts without secrets in values of settings: what an actor returns rests in Ray's
    object store."""
    settings = {
        name: replace(one, value=shown_of(name, one.value)) for name, one in facts.settings.items()
    }
    return replace(facts, settings=settings)


def _not_noted(trial: FailedTrial) -> None:
    """The process that began the run notes it."""
