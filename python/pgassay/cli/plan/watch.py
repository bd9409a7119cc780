"""The look at the host that `pgassay plan` takes.

Enters: a checked spec. Leaves: a `HostWatch` that has begun. Never: waits, or imports what makes a
plan: the half second passes while that is imported.
"""

from __future__ import annotations

from pgassay.server.hosts.local import HERE
from pgassay.spec.experiment import Spec
from pgassay.trials.host.other_programs import HostWatch

WATCHED_S = 0.5
"""A plan is read at once; the run itself watches its host for longer."""


def begin_watch(spec: Spec) -> HostWatch | None:
    """Begins to watch this host; None where the server under test is not one of our own."""
    return None if spec.file.target.is_existing or spec.file.target.fleet else HostWatch(HERE)
