"""Refuses loads that cannot run, in any arm.

Enters: a checked spec. Leaves: nothing, or one error that names the key and the fix. Never: starts
a program, or reaches a server.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.spec.arms import specs_of_arms
from pgassay.spec.experiment import Spec
from pgassay.spec.load.table import LoadTable
from pgassay.trials.load.program.process import check_program
from pgassay.trials.load.query_set.texts import sent
from pgassay.trials.load.scripts import check_plain_sql, parse_scripts
from pgassay.trials.run.setup_program import KEY, VARIABLES

_VARIABLES = ("CLIENTS", "DURATION", "SEED", "TRIAL", "BLOCK", "ARM", "STEP", "SCALE", "OUTPUT")


def check_load(spec: Spec) -> None:
    """Refuses a load that cannot run in some arm, before anything is changed."""
    if spec.file.workload.setup is not None:
        check_program(spec.file.workload.setup, spec.folder, KEY, VARIABLES)
    arms = list(specs_of_arms(spec))
    for workload in dict.fromkeys(one.workload for one in arms):
        check_plain_sql("schema.sql", workload.schema_sql)
        check_plain_sql("data.sql", workload.data_sql)
        for check in workload.checks:
            check_plain_sql(check.file, check.sql)
    for factor, levels in spec.variants.schema.items():
        for level, made in levels.items():
            check_plain_sql(f"factors.schema.{factor}.{level}", made.sql)
            check_plain_sql(f"factors.schema.{factor}.{level}, undo", made.undo or "")
    for one in arms:
        _check_load(one)


def _check_load(spec: Spec) -> None:
    if spec.file.load.command is not None:
        _check_command(spec.file.load, spec.folder)
    elif spec.file.workload.queries is not None:
        for query in spec.workload.scenarios:
            sent(query)
    elif spec.file.runs_scripts:
        scenarios, load = spec.workload.scenarios, spec.file.load
        for scenario, free in parse_scripts(
            scenarios, allow_shell=load.allow_shell, protocol=load.protocol
        ):
            unknown = sorted(set(free) - {"scale"})
            if unknown:
                raise Refusal("variable-not-set", name=unknown[0]).in_file(scenario.file)
            if scenario.parameters is not None:
                from pgassay.trials.load.parameters import rows_of  # pyarrow, for these alone

                rows_of(scenario.parameters)


def _check_command(load: LoadTable, beside: Path) -> None:
    """Refuses a `load.command` that cannot run, before anything is touched."""
    known = [f"PGASSAY_{name}" for name in _VARIABLES]
    if load.rate is not None:
        known.append("PGASSAY_RATE")
    for key in ("command", "warmup_command"):
        words = getattr(load, key)
        if words is not None:
            check_program(words, beside, f"load.{key}", known)
