"""Refuses scenarios and slices that the load of some arm cannot run.

Enters: a `Spec`; for `pgassay load` slices and scenarios alone. Leaves: refusals with their keys.
Never: reaches a server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pgassay.refusals.refusal import Refusal, distinct
from pgassay.spec.arms import specs_of_arms
from pgassay.spec.experiment import Spec
from pgassay.spec.load.slices import AT_ITS_BEGIN, FIXED, OF_A_SESSION, SlicesTable, why_fixed
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.settings.catalogue import check_setting
from pgassay.spec.workload.folder import Workload


def own_connections_of_a_shared_pool(spec: Spec) -> Iterator[Refusal]:
    """Refuses a number of connections for one scenario where all scenarios share them."""
    for arm in specs_of_arms(spec):
        load = arm.file.load
        fixed = next((s for s in arm.workload.scenarios if s.weight < 0), None)
        if fixed is not None and load.pools != "per_scenario" and load.command is None:
            weight = fixed.weight
            yield Refusal("own-connections", name=fixed.name, weight=weight, count=-weight)
            return


def unfit_slices(spec: Spec) -> Iterator[Refusal]:
    """Refuses slices that do not fit the workload or the settings of an arm."""
    file = spec.file
    held = {*file.factors.postgres, *file.settings.postgres, *file.load.settings}
    found: list[Refusal] = []
    for arm in specs_of_arms(spec):
        slices = arm.file.load.slices
        if slices is None:
            continue
        for major in file.majors:
            found += misfits_of_slices(slices, arm.workload, held, major)
    yield from distinct(found)


def misfits_of_slices(
    slices: SlicesTable, workload: Workload, held: Collection[str] = (), major: int | None = None
) -> Iterator[Refusal]:
    """Yields what in slices does not fit a workload, or settings that an experiment holds or varies
    (`held`)."""
    known = [scenario.name for scenario in workload.scenarios]
    for number, variant in enumerate(slices.variants):
        key = f"load.slices.variants.{number}"
        for name, value in variant.settings.items():
            own = f"{key}.settings.{name}"
            check_setting(own, name, value, major)
            yield from not_of_a_session(own, name, major)
            if name in held:
                yield Refusal("slice-and-experiment", own)
        for statement in variant.sql:
            if "\0" in statement or not statement.strip():
                yield Refusal("no-statement", f"{key}.sql")
        for name in variant.scenarios or ():
            if name not in known:
                near = did_you_mean(name, known)
                values = {"workload": workload.name, "name": name, "near": near}
                yield Refusal("no-scenario", f"{key}.scenarios", **values)


def not_of_a_session(
    key: str, name: str, major: int | None, *, at_its_begin: bool = False
) -> Iterator[Refusal]:
    """Refuses a setting that a single session cannot set, at its start or later."""
    why = why_fixed(name, major, AT_ITS_BEGIN if at_its_begin else OF_A_SESSION)
    if why == "transaction":
        yield Refusal("setting-of-a-transaction", key, name=name)
    elif why is not None:
        code = "setting-not-of-session" if at_its_begin else "setting-not-of-slices"
        yield Refusal(code, key, name=name, why=FIXED[why])


OF_ARMS = (own_connections_of_a_shared_pool, unfit_slices)
