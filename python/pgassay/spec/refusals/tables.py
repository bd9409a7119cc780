"""Refuses tables of an experiment file that do not fit each other, before other files are read.

Enters: the tables. Leaves: refusals with their keys. Never: has the last word on a setting or a
knob; the server and its host check again when they are opened.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from pgassay.refusals.refusal import Refusal
from pgassay.spec.endpoints import (
    OF_QUERIES,
    is_pooled,
    known_endpoints,
    scenario_of,
    usual_metric,
)
from pgassay.spec.factors.kinds import written_factors
from pgassay.spec.factors.tables import EMBEDDED
from pgassay.spec.load.table import OF_QUERIES_ALONE, QUERY_KEYS, WRITES_KEYS
from pgassay.spec.model import MOST_ARMS, ExperimentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import secret_line
from pgassay.spec.server.host_knobs import check_knob, normal, partner_of
from pgassay.spec.server.reset import Caches, ResetLevel
from pgassay.spec.settings.catalogue import check_setting, entries_of


def password_in(text: str) -> Iterator[Refusal]:
    """Refuses a password in the file, which is stored with every run."""
    line = secret_line(text)
    if line is not None:
        yield Refusal("password-in-file", line=line)


def no_workload(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a file that names no workload: it is more likely unfinished than meant for the
    default one."""
    named = {"use", "queries"} & file.workload.model_fields_set
    if not named and file.factors.workload.use is None:
        yield Refusal("no-workload")


def unfit_metric(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a primary metric that the load sets itself, or that it does not have."""
    load, metric = file.load, file.metric
    if (metric == OF_QUERIES) != (file.workload.queries is not None):
        yield Refusal("queries-have-their-metric")
        return
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


def beside_a_replay(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses what a replay, which is one step on one server, cannot give."""
    if file.load.replay is None:
        return
    given = {
        "target.fleet": file.target.fleet is not None,
        "design.mode": file.design.mode != "blocks",
        "profile": file.profile is not None,
        "factors.scenarios": bool(file.factors.scenarios),
        "factors.weights": bool(file.factors.weights),
        "factors.client": bool(file.factors.client.model_fields_set),
    }
    for key, is_given in given.items():
        if is_given:
            yield Refusal("not-of-a-replay", key)


def beside_queries(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses what a query set, whose queries run one after the other, cannot give; and its own
    keys without it."""
    if file.workload.queries is None:
        for key in OF_QUERIES_ALONE:
            if key in file.load.model_fields_set:
                yield Refusal("not-without-queries", f"load.{key}")
        if file.workload.writes is not None:
            yield Refusal("not-without-queries", "workload.writes")
        return
    writes = file.workload.writes is not None
    for key in sorted(file.load.model_fields_set - QUERY_KEYS - (WRITES_KEYS if writes else set())):
        yield Refusal("not-with-queries", f"load.{key}")
    client = file.factors.client.model_fields_set
    given = {
        "load.clients": len(file.load.clients) > 1,
        "design.mode": file.design.mode == "duet",
        "design.slice": "slice" in file.design.model_fields_set,
        "profile": file.profile is not None,
        "factors.weights": bool(file.factors.weights),
        "factors.workload.use": file.factors.workload.use is not None,
        **{f"factors.client.{key}": key != "settings" for key in sorted(client)},
    }
    for key, is_given in given.items():
        if is_given:
            yield Refusal("not-with-queries", key)
    for name in file.design.endpoints or ():
        if scenario_of(name) is not None:
            yield Refusal("endpoint-of-a-query", name=name)
        elif is_pooled(known_endpoints()[name]["metric"]):
            yield Refusal("endpoint-of-all-queries", name=name)
    if file.load.caches == "cold" and file.reset.caches is not Caches.COLD:
        yield Refusal("cold-queries-of-warm-trials")
    level = file.reset_rule().level
    if writes and level is not ResetLevel.SNAPSHOT:
        yield Refusal("writes-without-snapshot", level=level.value)


def tls_without_a_network(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses TLS to a server of pgassay's own, which is reached by a socket."""
    varied = file.factors.client.sslmode is not None
    if not file.loads_existing and (varied or file.load.sslmode):
        yield Refusal("no-tls", "load.sslmode" if file.load.sslmode else "factors.client.sslmode")


def held_and_varied(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a server or workload that is given for all arms and varied too."""
    servers, workloads = file.factors.target, file.factors.workload
    given = [n for n in ("version", "bin", "dsn") if getattr(file.target, n) is not None]
    of_copies = file.varies_copies and "version" not in given
    for name, levels in (("version", servers.version), ("bin", servers.bin)):
        if levels is not None and given and not of_copies:
            yield Refusal("server-held-and-varied", f"factors.target.{name}", other=given[0])
    for name, varied in (("use", workloads.use), ("scale", workloads.scale)):
        if varied is not None and name in file.workload.model_fields_set:
            yield Refusal("also-given-as", f"factors.workload.{name}", other=f"workload.{name}")


def unfit_versions(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses versions that do not come with pgassay, and a way to upgrade, where no server of the
    user's is copied."""
    levels = file.factors.target
    if file.varies_copies:
        return
    for major in (levels.version or {}).values():
        if major not in EMBEDDED:
            yield Refusal("version-not-embedded", "factors.target.version", major=major)
    if "how" in levels.model_fields_set:
        yield Refusal("upgrade-of-no-server")


def beside_a_fleet(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses what servers on several nodes, which run whole blocks, cannot give."""
    fleet = file.target.fleet
    if fleet is None:
        return
    given = {
        "target.dsn": file.target.dsn is not None,
        "target.version": file.target.version is not None and bool(fleet.servers),
        "target.bin": file.target.bin is not None and bool(fleet.servers),
        "reset.level": file.copies_existing,
        "factors.target": bool(file.factors.target.servers()),
        "factors.host": bool(file.factors.host),
        "settings.host": bool(file.settings.host),
        "load.command": file.load.command is not None,
        "workload.setup": file.workload.setup is not None,
        "load.generators": file.load.generators is not None,
        "profile": file.profile is not None,
        "design.mode": file.design.mode != "blocks",
    }
    code = "not-with-existing-servers-of-a-fleet" if fleet.servers else "not-with-a-fleet"
    for key, is_given in given.items():
        if is_given:
            yield Refusal(code, key)


def setup_of_an_existing_server(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses a program that makes data on a server of the user's."""
    if file.workload.setup is not None and file.target.dsn is not None and file.loads_existing:
        yield Refusal("setup-of-an-existing-server")


def places_of_an_existing_server(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses CPUs, niceness and memory for a server that pgassay does not start."""
    for name in ("server", "server_nice", "server_memory"):
        if file.loads_existing and getattr(file.placement, name) is not None:
            yield Refusal("place-of-an-existing-server", f"placement.{name}")


def knobs_without_permission(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses knobs of a host that the file does not allow to change."""
    knobs = [f"factors.host.{name}" for name in file.factors.host]
    knobs += [f"settings.host.{name}" for name in file.settings.host]
    may_change = not file.loads_existing or file.target.allow_changes
    if not knobs or (file.target.allow_host_changes and may_change):
        return
    if may_change:
        yield Refusal("knob-without-permission", knobs[0])
    else:
        yield Refusal("knob-without-permissions", knobs[0])


def unfit_target(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses keys of [target] that the reset before every trial has no use for."""
    if file.target.settings_at == "database" and file.reset_rule().level is ResetLevel.TEMPLATE:
        yield Refusal("settings-of-a-template")
    if file.loads_existing and file.target.bin is not None:
        yield Refusal("programs-of-an-existing-server")
    for name in _NOT_FOR_COPIES if file.copies_existing else ():
        if name in file.target.model_fields_set:
            yield Refusal("not-for-a-copy", f"target.{name}")
    for name in () if file.copies_existing else ("backup_rate", "backup_checkpoint"):
        if name in file.target.model_fields_set:
            yield Refusal("for-a-copy-alone", f"target.{name}")


_NOT_FOR_COPIES = (
    "service",
    "cluster",
    "restart_command",
    "ssh",
    "sudo",
    "allow_restart",
    "settings_at",
)
"""Keys of [target] about the service or host of a server that is loaded itself."""


def too_many_arms(file: ExperimentFile) -> Iterator[Refusal]:
    """Refuses more combinations of levels than can be compared."""
    arms = math.prod(len(factor.levels) for factor in written_factors(file.factors))
    if arms > MOST_ARMS and file.design.combinations == "full":
        yield Refusal("too-many-combinations", arms=arms, most=MOST_ARMS)


OF_TABLES = (
    beside_a_fleet,
    setup_of_an_existing_server,
    places_of_an_existing_server,
    knobs_without_permission,
    unfit_target,
    too_many_arms,
    unfit_settings,
    unfit_knobs,
    profile_of_alternating_arms,
    unfit_generators,
    beside_a_replay,
    beside_queries,
    tls_without_a_network,
    held_and_varied,
    unfit_versions,
)
