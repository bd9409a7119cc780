"""Refuses tables of an experiment file that do not fit each other, before other files are read.

Enters: the tables. Leaves: refusals with their keys. Never: has the last word on a setting or a
knob; the server and its host check again when they are opened.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from pgassay.refusals.refusal import Refusal
from pgassay.spec.endpoints import usual_metric
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import secret_line
from pgassay.spec.server.host_knobs import check_knob, normal, partner_of
from pgassay.spec.settings.catalogue import check_setting, entries_of


def password_in(text: str) -> Iterator[Refusal]:
    """Refuses a password in the file, which is stored with every run."""
    line = secret_line(text)
    if line is not None:
        yield Refusal("password-in-file", line=line)


def no_workload(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a file that names no workload: it is more likely unfinished than meant for the
    default one."""
    if "use" not in file.workload.model_fields_set and file.factors.workload.use is None:
        yield Refusal("no-workload")


def unfit_metric(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a primary metric that the load sets itself, or that it does not have."""
    load, metric = file.load, file.metric
    kind, _, which = metric.partition("_")
    if kind == "tps" and load.rate is not None:
        yield Refusal("metric-set-by-rate", usual=usual_metric(load))
    elif kind == "response" and load.command is not None:
        yield Refusal("metric-of-a-program", metric=metric, which=which)
    elif kind == "response" and load.rate is None:
        yield Refusal("metric-without-rate", metric=metric, which=which)
    elif kind == "latency" and load.command is not None and load.latency is None:
        yield Refusal("metric-without-log", metric=metric)


def unfit_settings(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses settings that no version under test has, and levels that are equal or too few."""
    for name, value in file.settings.postgres.items():
        for major in file.majors:
            check_setting(f"settings.postgres.{name}", name, value, major)
    for name, levels in file.factors.postgres.items():
        key = f"factors.postgres.{name}"
        if name in file.settings.postgres:
            yield Refusal("given-twice", key, other="[settings.postgres]")
        yield from too_few(key, levels)
        for level, major in itertools.product(levels, file.majors):
            check_setting(key, name, level, major)
        entry = next(iter(entries_of(name)), None)
        values = [
            to_base(one, entry.get("unit"), entry["vartype"]) if entry else one for one in levels
        ]
        yield from equal_levels(key, levels, values)


def unfit_knobs(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses knobs that no host can have, and knobs that exclude each other."""
    keys: dict[str, str] = {}
    for name, value in file.settings.host.items():
        keys[name] = f"settings.host.{name}"
        check_knob(keys[name], name, value)
    for name, levels in file.factors.host.items():
        key = f"factors.host.{name}"
        if name in keys:
            yield Refusal("given-twice", key, other="[settings.host]")
        if name in file.factors.postgres:
            yield Refusal("given-twice", key, other="[factors.postgres]")
        yield from too_few(key, levels)
        keys[name] = key
        for level in levels:
            check_knob(key, name, level)
        yield from equal_levels(key, levels, map(normal, levels))
    for name, key in keys.items():
        if partner_of(name) in keys:
            yield Refusal("knobs-exclude-each-other", key, partner=partner_of(name))


def too_few(key: str, levels: tuple[str, ...]) -> Iterator[Refusal]:
    """Refuses a factor with a single level."""
    if len(levels) < 2:
        yield Refusal("too-few-levels", key)


def equal_levels(key: str, levels: Iterable[str], values: Iterable[str]) -> Iterator[Refusal]:
    """Refuses two levels, named by `levels`, that have the same value."""
    seen: dict[str, str] = {}
    for level, value in zip(levels, values, strict=True):
        if value in seen:
            yield Refusal("equal-levels", key, one=seen[value], other=level)
        seen.setdefault(value, level)


def profile_of_alternating_arms(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a profile where arms alternate within a trial, because a profile is of one arm."""
    if file.profile is not None and file.design.mode in ("switchback", "duet"):
        yield Refusal("profile-of-alternating-arms", mode=file.design.mode)


def unfit_generators(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses load generators, which are other machines, beside what only a load of this machine
    can do."""
    if file.load.generators is None:
        return
    if not file.loads_existing:
        yield Refusal("generators-cannot-reach")
    if file.design.mode != "blocks":
        yield Refusal("generators-of-alternating-arms", mode=file.design.mode)
    if file.profile is not None:
        yield Refusal("generators-and-profile")
    if file.placement.client is not None or file.placement.client_nice is not None:
        yield Refusal("generators-and-placement")


def tls_without_a_network(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses TLS to a server of pgassay's own, which is reached by a socket."""
    varied = file.factors.client.sslmode is not None
    if not file.loads_existing and (varied or file.load.sslmode):
        yield Refusal("no-tls", "load.sslmode" if file.load.sslmode else "factors.client.sslmode")


def held_and_varied(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a server or workload that is given for all arms and varied too."""
    servers, workloads = file.factors.target, file.factors.workload
    given = [n for n in ("version", "bin", "dsn") if getattr(file.target, n) is not None]
    for name, levels in (("version", servers.version), ("bin", servers.bin)):
        if levels is not None and given:
            yield Refusal("server-held-and-varied", f"factors.target.{name}", other=given[0])
    for name, varied in (("use", workloads.use), ("scale", workloads.scale)):
        if varied is not None and name in file.workload.model_fields_set:
            yield Refusal("also-given-as", f"factors.workload.{name}", other=f"workload.{name}")


OF_TABLES = (
    unfit_settings,
    unfit_knobs,
    profile_of_alternating_arms,
    unfit_generators,
    tls_without_a_network,
    held_and_varied,
)
