"""Report contexts of synthetic runs, for the tests of the report.

Enters: a folder, a spec's text, true effects. Leaves: the `ReportContext` that `analyse_run` makes.
Never: needs a server or a browser, or analyses by itself.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pgassay.analysis.model import RunFacts
from pgassay.report.context import ReportContext
from pgassay.report.repeat_command import repeat_command
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.workflows.reporting import analyse_run
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.kept import kept_object

RUN_NAME = "2026-01-31-142501-max-wal-size"

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
    run, _, plan = synthetic_run(folder / RUN_NAME, spec_text=spec_text, **truth)
    context = kept_object(lambda: analyse_run(run), spec_text, truth)
    return replace(context, command=repeat_command(run.path, plan, spec_text))


def with_facts(context: ReportContext, **given: Any) -> ReportContext:
    """The context with other values of its own fields, or of those of its facts."""
    if "environment" in given:
        given["environment"] = EnvironmentFile.model_validate(given["environment"])
    own = {one.name for one in fields(RunFacts)} & given.keys()
    facts = replace(context.facts, **{name: given.pop(name) for name in own})
    return replace(context, facts=facts, **given)
