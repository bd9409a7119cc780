"""Analyses with made-up signals, for the rules of diagnosis.

Enters: what each arm's trials show. Leaves: an `Analysis`, the facts of its run.
Never: measures anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.signals import by_arm
from pgassay.analysis.model import (
    Analysis,
    Answer,
    ArmSummary,
    Explanation,
    IntervalKind,
    RunFacts,
    StepMeasures,
    TrialMeasures,
)
from support.synthetic.environments import environment_of

Shown = Mapping[str, float]
"""SOURCE/OBJECT/NAME → value; metric//NAME is a metric of the trial."""

SPEC = """
question = "Does B help?"
[workload]
use = "payments"
scale = 3
[factors.postgres]
commit_delay = [0, 10]
[settings.postgres]
work_mem = "4MB"
[load]
clients = 8
step = "10s"
"""
SETTINGS = {
    "work_mem": "4MB",
    "autovacuum": "on",
    "autovacuum_naptime": "1min",
    "autovacuum_vacuum_cost_delay": "2ms",
    "autovacuum_freeze_max_age": "200000000",
    "max_locks_per_transaction": "64",
}
SECONDS, TRANSACTIONS = 100.0, 10_000


def analysis_with(
    *arms: Sequence[Shown],
    settings: Mapping[str, str] | None = None,
    scripts: Sequence[str] = (),
    spec_text: str = SPEC,
) -> tuple[Analysis, RunFacts]:
    """An arm for each sequence, in it what each trial shows; trials of 100 s and 100 tps.

    `scripts` are one an arm. The arms are `B = 0`, `B = 1` and so on, in blocks.
    """
    signals, measures = [], []
    for at, trials in enumerate(arms):
        for block, shown in enumerate(trials, start=1):
            number = (block - 1) * len(arms) + at + 1
            keys = {_key(name): value for name, value in shown.items()}
            sampled = {key: value for key, value in keys.items() if key[0] != "metric"}
            metrics = {key[2]: value for key, value in keys.items() if key[0] == "metric"}
            signals.append(TrialSignals(number, block, f"a{at}", SECONDS, TRANSACTIONS, sampled))
            step = StepMeasures(None, 0, round(SECONDS * 1e9), TRANSACTIONS, metrics)
            measures.append(TrialMeasures(number, block, at, f"a{at}", step, (), ()))
    names = [f"a{at}" for at in range(len(arms))]
    every = {
        name: {"value": value, "source": "default"}
        for name, value in (SETTINGS | dict(settings or {})).items()
    }
    answer = Answer(
        question="Does B help?",
        metric="tps",
        smallest_effect=0.02,
        interval=IntervalKind.T,
        simultaneous=1,
        blocks=len(arms[0]),
        arms=tuple(
            ArmSummary(name, f"B = {at}", {"commit_delay": str(10 * at)}, len(arms[at]), {})
            for at, name in enumerate(names)
        ),
        trials=tuple(measures),
        invalid_trials=(),
        comparisons=(),
        rule=Rule(IntervalKind.T, smallest_effect=0.02, simultaneous=1),
    )
    facts = RunFacts(
        environment=environment_of(server={"every_setting": every}, host={"cpus": 4}),
        asked=tuple(
            ArmAsked(name, {}, {"scenario": scripts[at]} if at < len(scripts) else {})
            for at, name in enumerate(names)
        ),
        spec_text=spec_text,
    )
    return Analysis(answer, explanation=Explanation(by_arm(names, signals))), facts


def _key(name: str) -> tuple[str, str, str]:
    source, _, rest = name.partition("/")
    thing, _, last = rest.rpartition("/")
    return source, thing, last
