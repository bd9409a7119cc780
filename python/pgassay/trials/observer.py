"""What a run tells while it goes on.

Enters: events of the pipeline and of trials. Leaves: nothing.
Never: influences the run; an observer only looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.trials.glance import Seen


class Observer(Protocol):
    """Follows a run; every method returns at once."""

    def planned(self, plan: Plan) -> None:
        """The plan is drawn; nothing has been touched."""
        ...

    def preparing(self, what: str) -> None:
        """A stretch of work outside the trials has begun."""
        ...

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        """A trial's reset has begun."""
        ...

    def loading(self, progress: Mapping[str, Any], seen: Seen | None = None) -> None:
        """The load runs; the object is that of `Load.progress`, beside what the server does."""
        ...

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        """A trial is over and stored."""
        ...

    def warned(self, text: str) -> None:
        """Something worth a line."""
        ...


class SilentObserver:
    """Follows nothing."""

    def planned(self, plan: Plan) -> None: ...
    def preparing(self, what: str) -> None: ...
    def trial_began(self, trial: PlannedTrial, label: str) -> None: ...
    def loading(self, progress: Mapping[str, Any], seen: Seen | None = None) -> None: ...
    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None: ...
    def warned(self, text: str) -> None: ...
