"""What a run was asked to do, in its directory: spec.toml, workload.json, plan.json.

Enters: a spec and its plan. Leaves: files, and the plan read back. Never: draws a plan anew.
"""

from __future__ import annotations

from pgassay.errors import RunDirectoryError
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.samples.layout import PLAN, SPEC
from pgassay.samples.own_runs import remember_begun
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.experiment import Spec
from pgassay.spec.stored import WORKLOAD_COPY, materials_to_json


def store_design(run: RunDirectory, spec: Spec, plan: Plan) -> None:
    """Write everything that it takes to repeat or resume the run."""
    run.write_text(SPEC, spec.text)
    run.write_json(WORKLOAD_COPY, materials_to_json(spec), verbatim=True)
    remember_begun(run.path)
    store_plan(run, plan)


def store_plan(run: RunDirectory, plan: Plan) -> None:
    """Write the plan, again where the run has dropped an arm."""
    run.write_json(PLAN, plan_to_json(plan))


def stored_plan(run: RunDirectory) -> Plan:
    """The plan a run was made with."""
    try:
        return plan_from_json(run.read_json(PLAN))
    except ValueError as error:
        raise RunDirectoryError(f"{run.path / PLAN}: {error}") from None
