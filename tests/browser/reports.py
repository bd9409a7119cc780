"""Report contexts of synthetic runs, for the tests of the report.

Enters: a folder, a spec's text, true effects. Leaves: a `ReportContext` as the pipeline makes it.
Never: needs a server or a browser.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay.analysis.analyse import analyse, with_curves
from pgassay.analysis.curves.latency_curve import latency_curves
from pgassay.analysis.measures.courses.chart_series import chart_series
from pgassay.analysis.measures.courses.latencies import read_latencies
from pgassay.analysis.measures.courses.trial_course import read_course
from pgassay.analysis.measures.signals import by_arm, read_signals
from pgassay.analysis.measures.trial import measure_trial
from pgassay.findings.registry import find
from pgassay.report.context import ReportContext
from support.synthetic.directories import SPEC, synthetic_run

NO_FACTORS = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
THREE_LEVELS = SPEC.replace('["32MB", "4GB"]', '["32MB", "1GB", "4GB"]')
STEPS = SPEC.replace("clients = 8", "clients = [4, 8]")
SEQUENTIAL = SPEC.replace("max_blocks = 6", "max_blocks = 12")
TWO_FACTORS = SPEC.replace(
    '["32MB", "4GB"]', '["32MB", "4GB"]\ncheckpoint_completion_target = ["0.5", "0.9"]'
)
LATENCY = SPEC.replace("seed = 7", 'seed = 7\nmetric = "latency_p95"')

HOSTILE = "</script><script>document.documentElement.dataset.ran = 1</script>"
HOSTILE_IMAGE = "<img src=x onerror=document.documentElement.dataset.ran=1>"
HOSTILE_SPEC = f"""
question = "{HOSTILE_IMAGE} {HOSTILE} | `x` {{{{ 7 * 7 }}}} %{{x}} <b>bold</b> & \\u2028"
[factors.postgres]
search_path = ["{HOSTILE}", "{HOSTILE_IMAGE}"]
[load]
clients = 8
step = "5s"
warmup = "1s"
[design]
min_blocks = 2
max_blocks = 2
seed = 7
"""


def synthetic_context(folder: Path, spec_text: str = SPEC, **truth: Any) -> ReportContext:
    """What a report of this run is made of; `truth` is as for `synthetic_run`."""
    run, spec, plan = synthetic_run(folder / "run", spec_text=spec_text, **truth)
    stored = list(run.trials())
    courses = [course for trial in stored if (course := read_course(trial)) is not None]
    analysis = with_curves(
        analyse(spec.file.question, plan, [measure_trial(trial) for trial in stored]), plan, courses
    )
    if not plan.alternates:
        latencies = [read_latencies(trial) for trial in stored]
        signals = by_arm([arm.id for arm in plan.arms], [read_signals(one) for one in stored])
        analysis = replace(
            analysis, latency_curves=latency_curves(plan, latencies), signals=signals
        )
    return ReportContext(
        run_name="2026-01-31-142501-max-wal-size",
        question=spec.file.question,
        spec_text=spec.text,
        plan=plan,
        analysis=analysis,
        findings=find(analysis),
        series=tuple(chart_series(trial) for trial in stored),
        environment=run.read_json("environment.json"),
        command="pgassay run spec.toml",
        version="0.1.0",
    )
