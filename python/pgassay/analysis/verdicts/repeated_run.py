"""How often was this experiment run before on this machine, and what does that mean?

Enters: environment.json, the verdicts. Leaves: a caveat, or none. Never: changes a verdict.

Each run has its own 5 %. Somebody who repeats a file until it says "better" and reports that run
has the error of all of them. A run of the same file that measures another build is not counted, nor
is an A/A run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.measures.model import Caveat
from pgassay.notes import Importance, Note
from pgassay.samples.forms.environment import EnvironmentFile

EARLIER_RUNS = "earlier_runs"
"""The key of environment.json."""
_ERROR = 0.05
_MOST = 10_000
_DIFFERENT = (Verdict.BETTER, Verdict.WORSE)


def earlier_runs(environment: EnvironmentFile) -> int:
    """How many runs of the same file, scripts and builds of servers this machine's noise history
    held as the run began."""
    return min(max(environment.earlier_runs, 0), _MOST)


def repeated_run_caveats(
    environment: EnvironmentFile, verdicts: Sequence[Comparison]
) -> Iterator[Caveat]:
    """What a difference is worth that one of several runs found; a detail where none was found."""
    number = earlier_runs(environment) + 1
    if number == 1:
        return
    share = 100.0 * (1.0 - (1.0 - _ERROR) ** number)
    note = Note("analysis/verdicts/repeated-run", {"number": number, "share": share})
    found = any(one.verdict in _DIFFERENT for one in verdicts)
    yield Caveat.of("repeated-run", note, Importance.SIZE if found else Importance.DETAIL)
