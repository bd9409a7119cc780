"""The checked experiment that all later packages work with.

Enters: nothing; `parse.py` and `arms.py` make it. Leaves: the frozen `Spec`.
Never: reads a file or checks a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pgassay.spec.factors.kinds import written_factors
from pgassay.spec.factors.variants import Variants
from pgassay.spec.load.table import LoadTable
from pgassay.spec.load.trace_file import TraceFacts
from pgassay.spec.model import ExperimentFile
from pgassay.spec.workload.folder import Scenario, Workload


@dataclass(frozen=True)
class Writes:
    """The writes that each trial of a query set runs after its queries."""

    load: LoadTable
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class Spec:
    """One checked experiment: the file's tables, its workload and its seed."""

    file: ExperimentFile
    workload: Workload
    seed: int
    text: str
    source: str
    folder: Path
    """The folder from which the file's relative paths start."""
    variants: Variants = field(default_factory=Variants)
    """The contents of files that levels name."""
    untrusted: bool = False
    """Whether its SQL runs as a role without rights outside of its database."""
    trace: TraceFacts | None = None
    """Of the trace that `load.replay` names."""
    writes: Writes | None = None

    @property
    def question(self) -> str:
        """The question that the run answers: that of the file, or one made from the names of the
        factors."""
        if self.file.question:
            return self.file.question
        names = [factor.name for factor in written_factors(self.file.factors)]
        if not names:
            return f"How fast is {self.workload.name}?"
        return f"What {'does' if len(names) == 1 else 'do'} {' and '.join(names)} do?"
