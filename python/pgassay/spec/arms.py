"""The experiment as one arm has it: its levels put in where they belong.

Enters: a checked `Spec`, the levels of an arm by kind. Leaves: a `Spec` whose load, workload and
scale are the arm's, and the SQL of its schema; or a SpecError that names the factor.
Never: touches settings of the server or knobs of the host: those are given at every reset.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pgassay.errors import SpecError
from pgassay.spec.factors import SCALE, WORKLOAD, weight_of
from pgassay.spec.load_table import LoadTable
from pgassay.spec.suggest import did_you_mean
from pgassay.spec.tables import check_table
from pgassay.spec.variants import SchemaSql, with_script
from pgassay.spec.workload import Scenario, ScenarioTable, Workload

if TYPE_CHECKING:
    from pgassay.spec.parse import Spec

Levels = Mapping[str, Mapping[str, str]]
"""Kind → factor → name of the level."""
_OF_THE_LOAD = ("workload", "schema", "scenarios", "weights", "client", "client.settings")


def spec_of_arm(spec: Spec, levels: Levels) -> Spec:
    """The experiment with these levels for everything; what no factor varies stays."""
    if not any(levels.get(kind) for kind in _OF_THE_LOAD):
        return spec
    table = spec.file.workload
    chosen = levels.get("workload", {})
    scales = spec.file.factors.workload.scale or {}
    scale = scales[chosen[SCALE]] if SCALE in chosen else table.scale
    workload = spec.workload
    if WORKLOAD in chosen:
        workload = spec.variants.workloads[chosen[WORKLOAD]]
    file = spec.file.model_copy(
        update={
            "workload": table.model_copy(update={"scale": scale}),
            "load": _load(spec, levels),
        }
    )
    return replace(spec, file=file, workload=_with_levels(spec, workload, levels))


def schema_of_arm(spec: Spec, levels: Levels) -> dict[str, SchemaSql]:
    """By factor, the SQL that makes the arm's schema from the built one; empty ones left out."""
    scale = spec_of_arm(spec, levels).file.workload.scale
    chosen = levels.get("schema", {})
    found = {name: spec.variants.schema[name][level] for name, level in chosen.items()}
    return {name: one.at_scale(scale) for name, one in found.items() if one.sql}


def arms_of(spec: Spec) -> Iterator[tuple[Levels, Spec]]:
    """Every combination of the levels that shape the load, with the experiment as it has it."""
    varied = [entry for entry in spec.file.factors.every() if entry[0] in _OF_THE_LOAD]
    for combination in itertools.product(*(labels for _, _, labels in varied)):
        levels: dict[str, dict[str, str]] = {}
        for (kind, name, _), label in zip(varied, combination, strict=True):
            levels.setdefault(kind, {})[name] = label
        yield levels, spec_of_arm(spec, levels)


def check_client_levels(spec: Spec) -> None:
    """Each level of the client's by itself, so that its own key is named."""
    load = _written_load(spec)
    for kind, name, labels in spec.file.factors.every():
        if kind != "client":
            continue
        key = f"factors.client.{name}"
        if name in load:
            raise SpecError("is also held in [load]; keep one of the two", key=key)
        for label in labels:
            value = _client_value(spec, name, label)
            changed = load if value is None else {**load, name: value}
            check_table(LoadTable, changed, spec.source, under=key)


def _load(spec: Spec, levels: Levels) -> LoadTable:
    chosen = levels.get("client", {})
    sessions = levels.get("client.settings", {})
    if not chosen and not sessions:
        return spec.file.load
    table = _written_load(spec)
    for name, label in chosen.items():
        value = _client_value(spec, name, label)
        if value is not None:
            table[name] = value
    if sessions:
        table["settings"] = {**table.get("settings", {}), **sessions}
    return check_table(LoadTable, table, spec.source, under="factors.client")


def _client_value(spec: Spec, name: str, label: str) -> Any:
    value = getattr(spec.file.factors.client, name)[label]
    # A think time of nothing is none.
    return None if name == "think_time" and value in (0, "0") else value


def _written_load(spec: Spec) -> dict[str, Any]:
    """The table as the file has it: a level is read by the same rules as the key it stands for."""
    table: dict[str, Any] = tomllib.loads(spec.text).get("load", {})
    return table


def _with_levels(spec: Spec, workload: Workload, levels: Levels) -> Workload:
    scripts, weights = levels.get("scenarios", {}), levels.get("weights", {})
    factors = spec.file.factors
    known = [scenario.name for scenario in workload.scenarios]
    for kind, names in (("scenarios", factors.scenarios), ("weights", factors.weights)):
        for name in names:
            if name not in known:
                raise SpecError(
                    f"{workload.name} has no scenario {name!r}{did_you_mean(name, known)}",
                    file=spec.source,
                    key=f"factors.{kind}.{name}",
                )

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
