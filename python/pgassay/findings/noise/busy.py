"""A host that other programs keep busy, before the first trial.

Enters: what they use, the limit of the guard, the forecast. Leaves: a note, or none of a host that
is quiet. Never: estimates, or keeps a run from starting.
"""

from __future__ import annotations

from pgassay.analysis.noise.prior_runs import Expectation
from pgassay.findings.noise.forecast import is_of_this_host
from pgassay.notes import Note
from pgassay.trials.guards.noted_programs import FOREIGN_CPU, named
from pgassay.trials.guards.thresholds import overlaid, own_limits
from pgassay.trials.host.other_programs import OtherPrograms


def busy_host(used: OtherPrograms | None, forecast: Expectation | None) -> Note | None:
    """Returns a note where other programs use more than their guard allows in a trial."""
    limit = overlaid(own_limits())[FOREIGN_CPU]["doubt"]
    if used is None or used.processors <= limit:
        return None
    least = forecast.cases[0].outlook.detectable if is_of_this_host(forecast) else None
    found = "" if least is None else Note.of("findings/busy-host-forecast", detectable=100 * least)
    share = 100.0 * used.processors
    return Note.of("findings/busy-host", share=share, named=named(used.names), found=found)
