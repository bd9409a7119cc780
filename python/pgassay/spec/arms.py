"""The experiment as one arm runs it.

Enters: a checked `Spec`, the levels of an arm by kind. Leaves: a `Spec` with the arm's load,
workload and scale, and the SQL of its schema; or a SpecError or `Refusal` that names the factor.
Never: applies settings of the server or knobs of the host; the reset before a trial does.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pgassay.refusals.refusal import Refusal
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import (
    CLIENT,
    DATA,
    KINDS,
    QUERIES,
    SCALE,
    SCHEMA,
    SCRIPT,
    SESSION,
    WEIGHT,
    WORKLOAD,
    weight_of,
    written_factors,
)
from pgassay.spec.factors.variants import SchemaSql, with_script
from pgassay.spec.load.of_queries import as_step_of_queries
from pgassay.spec.load.table import LoadTable
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.tables import check_table
from pgassay.spec.workload.folder import Scenario, ScenarioTable, Workload

Levels = Mapping[str, Mapping[str, str]]
"""Kind → factor → name of the level."""


def spec_of_arm(spec: Spec, levels: Levels) -> Spec:
    """Returns the experiment as one arm runs it: with these levels in the load, workload
    and scale."""
    if not any(levels.get(kind.name) for kind in KINDS.values() if kind.shapes_load):
        return spec
    table = spec.file.workload
    chosen = levels.get(DATA.name, {})
    scales = spec.file.factors.workload.scale or {}
    scale = scales[chosen[SCALE]] if SCALE in chosen else table.scale
    workload = spec.workload
    if WORKLOAD in chosen:
        workload = spec.variants.workloads[chosen[WORKLOAD]]
    if spec.variants.queries is not None:
        for level in levels.get(QUERIES.name, {}).values():
            workload = replace(workload, scenarios=spec.variants.queries.compared[level])
    file = spec.file.model_copy(
        update={"workload": table.model_copy(update={"scale": scale}), "load": _load(spec, levels)}
    )
    return replace(spec, file=file, workload=_with_levels(spec, workload, levels))


def schema_of_arm(spec: Spec, levels: Levels) -> dict[str, SchemaSql]:
    """Returns by factor the SQL that turns the schema as built into the arm's; factors without SQL
    are left out."""
    scale = spec_of_arm(spec, levels).file.workload.scale
    chosen = levels.get(SCHEMA.name, {})
    found = {name: spec.variants.schema[name][level] for name, level in chosen.items()}
    return {name: one.at_scale(scale) for name, one in found.items() if one.sql}


def specs_of_arms(spec: Spec) -> Iterator[Spec]:
    """Yields the experiment with each combination of the levels that shape the load."""
    varied = [one for one in written_factors(spec.file.factors) if one.kind.shapes_load]
    for combination in itertools.product(*(factor.levels for factor in varied)):
        levels: dict[str, dict[str, str]] = {}
        for factor, label in zip(varied, combination, strict=True):
            levels.setdefault(factor.kind.name, {})[factor.name] = label
        yield spec_of_arm(spec, levels)


def unfit_client_levels(spec: Spec) -> Iterator[Refusal]:
    """Yields levels of the client that `[load]` would not take; each level is tried alone, so that
    its key is named."""
    load = _written_load(spec)
    for factor in written_factors(spec.file.factors):
        if factor.kind is not CLIENT:
            continue
        if factor.name in load:
            yield Refusal("given-twice", factor.key, other="[load]")
        for label in factor.levels:
            value = _client_value(spec, factor.name, label)
            changed = load if value is None else {**load, factor.name: value}
            check_table(LoadTable, changed, spec.source, under=factor.key)


def _load(spec: Spec, levels: Levels) -> LoadTable:
    chosen = levels.get(CLIENT.name, {})
    sessions = levels.get(SESSION.name, {})
    if not chosen and not sessions:
        return spec.file.load
    table = _written_load(spec)
    for name, label in chosen.items():
        value = _client_value(spec, name, label)
        if value is not None:
            table[name] = value
    if sessions:
        table["settings"] = {**table.get("settings", {}), **sessions}
    load = check_table(LoadTable, table, spec.source, under="factors.client")
    if spec.file.workload.queries is not None:
        return as_step_of_queries(load, len(spec.workload.scenarios))
    return load


def _client_value(spec: Spec, name: str, label: str) -> Any:
    value = getattr(spec.file.factors.client, name)[label]
    # A think time of 0 means none, which [load] says by leaving the key out.
    return None if name == "think_time" and value in (0, "0") else value


def _written_load(spec: Spec) -> dict[str, Any]:
    """The table as written: a level is checked by the same rules as the key that it replaces."""
    table: dict[str, Any] = tomllib.loads(spec.text).get("load", {})
    return table


def _with_levels(spec: Spec, workload: Workload, levels: Levels) -> Workload:
    scripts, weights = levels.get(SCRIPT.name, {}), levels.get(WEIGHT.name, {})
    factors = spec.file.factors
    known = [scenario.name for scenario in workload.scenarios]
    for kind, names in ((SCRIPT, factors.scenarios), (WEIGHT, factors.weights)):
        for name in names:
            if name not in known:
                key, near = f"factors.{kind.name}.{name}", did_you_mean(name, known)
                values = {"workload": workload.name, "name": name, "near": near}
                raise Refusal("factor-of-no-scenario", key, **values)

    def changed(scenario: Scenario) -> Scenario:
        if scenario.name in scripts:
            variants = spec.variants.scripts[scenario.name]
            scenario = with_script(scenario, variants[scripts[scenario.name]])
        if (factor := weight_of(scenario.name)) in weights:
            weight = factors.weights[scenario.name][weights[factor]]
            key = f"factors.weights.{scenario.name}"
            table = {"file": scenario.file, "weight": weight}
            checked = check_table(ScenarioTable, table, spec.source, under=key)
            scenario = replace(scenario, weight=checked.weight)
        return scenario

    return replace(workload, scenarios=tuple(changed(one) for one in workload.scenarios))
