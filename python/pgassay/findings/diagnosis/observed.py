"""The rules that an observation shows signs of.

Enters: the windows of an observation, environment.json. Leaves: findings of kind DIAGNOSIS. Never:
says "confirmed", for nothing was varied, or "supported" where there are few windows.
"""

from __future__ import annotations

from dataclasses import replace

from pgassay.analysis.measures.model import ArmSignals
from pgassay.analysis.observation.slice_metrics import BUSY_MS, METRIC
from pgassay.analysis.observation.windows import FEWEST
from pgassay.findings.diagnosis.judging import judge
from pgassay.findings.diagnosis.quantities import ArmFacts
from pgassay.findings.diagnosis.recognised import finding_of
from pgassay.findings.diagnosis.rule_file import known_rules
from pgassay.findings.model import Confidence, Finding
from pgassay.samples.forms.environment import EnvironmentFile

_LATENCY = "latency_mean"
"""As of a trial; nobody measured it, so it is the time of a session that was not idle."""


def diagnose(windows: ArmSignals, environment: EnvironmentFile) -> tuple[Finding, ...]:
    """Returns a finding for each rule that is seen, the surest first."""
    if not windows.trials:
        return ()
    server = environment.server
    facts = ArmFacts(
        windows,
        {name: server.value_of(name) or "" for name in server.every_setting},
        scripts=None,
        plans=None,
        cores=environment.host.cpus,
        metrics={
            one.number: {
                _LATENCY if name == BUSY_MS else name: value
                for (source, _, name), value in one.values.items()
                if source == METRIC
            }
            for one in windows.trials
        },
    )
    arm, enough = windows.arm, len(windows.trials) >= FEWEST
    return tuple(
        finding_of(
            one if enough else replace(one, confidence=Confidence.HYPOTHESIS),
            {arm: ""},
            {arm: {}},
            spec_text="",
            of="windows",
        )
        for one in judge(known_rules(), [facts], None, ())
    )
