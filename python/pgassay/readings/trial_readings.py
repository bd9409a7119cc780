"""The finished trials of one run, each read once.

Enters: a run directory and its plan. Leaves: what is taken from each of its trials. Never: holds
the samples of more than one trial in each process.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

from pgassay.analysis.measures.one_server import of_one_server
from pgassay.analysis.trial_reading import TrialReading, read_trial
from pgassay.plan.model import Plan
from pgassay.readings.processes import in_processes, processes_for
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.run_directory import RunDirectory


class TrialReadings:
    """Reads trials when they are asked for, and remembers them."""

    def __init__(self, run: RunDirectory, plan: Plan) -> None:
        self.run, self.plan = run, plan
        self._known: dict[int, TrialReading] = {}

    def of(self, number: int) -> TrialReading:
        """Reads one finished trial."""
        if number not in self._known:
            self._known[number] = read_trial(self.run.path, number, self.plan)
        return self._known[number]

    def every(self) -> list[TrialReading]:
        """Reads all finished trials, by their numbers; of a block those of one server count."""
        numbers = self.run.finished()
        unknown = [number for number in numbers if number not in self._known]
        further = processes_for([self.run.trial(number).sample_bytes() for number in unknown])
        self._known |= in_processes(further, self.run.path, unknown, self.plan)
        found = [self._known[number] for number in numbers]
        counted = of_one_server([one.measures for one in found])
        return [
            replace(one, measures=measures) for one, measures in zip(found, counted, strict=True)
        ]

    def environment(self) -> EnvironmentFile:
        """Reads environment.json, with the median duration of the resets."""
        stored = self.run.environment()
        if stored.reset:
            took = [
                reset.duration_s
                for reset in (one.trial.summary().reset for one in self.every())
                if reset.duration_s is not None
            ]
            if took:
                reset = {**stored.reset, "seconds": round(statistics.median(took), 2)}
                return EnvironmentFile.model_validate({**stored.given, "reset": reset})
        return stored
