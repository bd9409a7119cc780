"""Read an experiment file and check all of it before anything is touched.

Enters: a path, or text. Leaves: a frozen `Spec`, or a SpecError naming file, key and fix.
Never: reaches a server; what only the server knows is checked when it is opened.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pgassay.refusals.refusal import Refusal, found_by, refuse
from pgassay.spec.experiment import Spec, Writes
from pgassay.spec.factors.tables import named_as_stored
from pgassay.spec.factors.variants import Variants, read_variants
from pgassay.spec.load.of_queries import as_load_of_writes, as_step_of_queries
from pgassay.spec.load.replayed import as_step, trace_of
from pgassay.spec.load.trace_file import TraceFacts
from pgassay.spec.model import ExperimentFile, as_design_of_queries
from pgassay.spec.reading.tables import parsed_toml, read_table
from pgassay.spec.reading.texts import Roots, path_from, text_of
from pgassay.spec.refusals.arms import OF_ARMS
from pgassay.spec.refusals.factors import OF_FACTORS
from pgassay.spec.refusals.tables import OF_TABLES, no_workload, password_in, unfit_metric
from pgassay.spec.stored import WORKLOAD_COPY, stored_materials
from pgassay.spec.untrusted import OPTION, refuse_harmful
from pgassay.spec.workload.folder import (
    READY,
    InstalledTables,
    Scenario,
    Workload,
    load_data,
    load_workload,
    workload_folder,
)
from pgassay.spec.workload.queries import read_queries
from pgassay.spec.workload.query_folders import KEY, QueryFolders


def load_spec(
    path: Path,
    seed: int | None = None,
    mode: str | None = None,
    metric: str | None = None,
    *,
    untrusted: bool = False,
) -> Spec:
    """Reads and checks an experiment file; `seed`, `mode` and `metric` overrule the file's.
    `untrusted` refuses what could harm this machine (`untrusted.toml`).

    In a run directory the workload comes from the run's own copy, so that a run is repeated with
    the same scripts although the workload's folder may have changed since.
    """
    if path.is_dir():
        raise Refusal("folder-for-a-file").in_file(str(path))
    text = text_of(path)
    stored = path.parent / WORKLOAD_COPY
    is_run = (path.parent / "plan.json").is_file() and stored.is_file()
    if is_run and untrusted:
        raise Refusal("untrusted-run-directory", option=OPTION).in_file(str(path))
    found = stored_materials(stored) if is_run else None
    return parse_spec(
        text,
        source=str(path),
        beside=(found and found.folder) or path.parent,
        seed=seed,
        mode=mode,
        metric=metric,
        materials=None if found is None else (found.workload, found.variants),
        must_name_workload=not is_run,
        untrusted=untrusted or (found is not None and found.untrusted),
        trace=None if found is None else found.trace,
        writes=None if found is None else found.writes,
    )


def parse_spec(
    text: str,
    *,
    source: str,
    beside: Path,
    seed: int | None = None,
    mode: str | None = None,
    metric: str | None = None,
    materials: tuple[Workload, Variants] | None = None,
    must_name_workload: bool = False,
    untrusted: bool = False,
    trace: TraceFacts | None = None,
    writes: tuple[Scenario, ...] | None = None,
) -> Spec:
    """Checks the text of an experiment file; its relative paths start from the folder `beside`.

    `metric` is that of a stored plan; `trace` and `writes` are those of a stored run, which may be
    gone. A run goes on with the metric whatever newer rules say.
    """
    file = read_table(ExperimentFile, text, source)
    if untrusted and materials is None:  # else it was checked when the run was begun
        refuse_harmful(parsed_toml(text, source), source)
    file = _with_first_folder(file, source)
    roots = (beside, READY) if untrusted else ()
    overruled = {"mode": mode, "metric": metric}
    changed = {name: value for name, value in overruled.items() if value is not None}
    file = file.model_copy(update={"design": file.design.model_copy(update=changed)})
    if file.load.replay is not None:
        trace = trace or _trace(file, beside, source)
        file = file.model_copy(update={"load": as_step(file.load, trace)})
    refuse(password_in(text), source)
    checks = [*([no_workload] if must_name_workload else []), *OF_TABLES]
    refuse(found_by([*checks, *([unfit_metric] if metric is None else [])], file), source)
    if materials is None:
        named = next(iter((file.factors.workload.use or {}).values()), file.workload.use)
        own = workload_folder(named, beside)
        variants = read_variants(file.factors, beside, own, file=source, roots=roots)
        first = next(iter(variants.workloads.values()), None)
        if first is None:
            first = _workload(file, variants.queries, beside, source, roots)
        materials = (first, variants)
    else:
        stored = (materials[1].schema, materials[1].scripts)
        file = file.model_copy(update={"factors": named_as_stored(file.factors, stored)})
    given = seed if seed is not None else file.design.seed
    of_writes = None
    if file.workload.writes is not None:
        if writes is None:
            writes = _writing(file.workload.writes, beside, source, roots).scenarios
        of_writes = Writes(as_load_of_writes(file.load), writes)
    if file.workload.queries is not None:
        load = as_step_of_queries(file.load, len(materials[0].scenarios))
        file = file.model_copy(update={"load": load, "design": as_design_of_queries(file.design)})
    spec = Spec(
        file=_warmed_up(file, [materials[0], *materials[1].workloads.values()]),
        workload=materials[0],
        seed=secrets.randbelow(2**31) if given is None else given,
        text=text,
        source=source,
        folder=beside.resolve(),
        variants=materials[1],
        untrusted=untrusted,
        trace=trace,
        writes=of_writes,
    )
    refuse(found_by(OF_FACTORS, spec), source)
    refuse(found_by(OF_ARMS, spec), source)
    return spec


def _with_first_folder(file: ExperimentFile, source: str) -> ExperimentFile:
    """The file with the first of several folders of queries as that of its workload."""
    levels, own = file.factors.workload.queries, file.workload
    if levels is None:
        return file
    if own.queries is not None:
        raise Refusal("also-given-as", KEY, other="workload.queries").in_file(source)
    first = next(iter(levels.values()))
    return file.model_copy(update={"workload": own.model_copy(update={"queries": first})})


def _workload(
    file: ExperimentFile, folders: QueryFolders | None, beside: Path, source: str, roots: Roots
) -> Workload:
    """The workload that the file names; the queries of a set stand in place of its scenarios. Left
    out, the data of a set are those of its writes."""
    named, queries = file.workload.use, file.workload.queries
    if queries is None:
        return load_workload(named, beside, file=source, roots=roots)
    folder = path_from(queries, beside)
    found = (
        read_queries(folder, roots) if folders is None else next(iter(folders.compared.values()))
    )
    if "use" in file.workload.model_fields_set:
        return replace(load_data(named, beside, file=source, roots=roots), scenarios=found)
    writing = None
    if file.workload.writes is not None:
        writing = _writing(file.workload.writes, beside, source, roots)
    if writing is not None and not (file.target.is_existing and writing.installed is None):
        return replace(writing, scenarios=found)
    there = InstalledTables(()) if file.target.is_existing else None
    return Workload(folder.resolve().name, "", "", "", found, installed=there)


def _writing(named: str, beside: Path, source: str, roots: Roots) -> Workload:
    return load_workload(named, beside, file=source, key="workload.writes", roots=roots)


def _warmed_up(file: ExperimentFile, workloads: Sequence[Workload]) -> ExperimentFile:
    """The file with the longest warm-up of its workloads, where it names none itself."""
    known = [one.warmup_s for one in workloads if one.warmup_s is not None]
    if not known or "warmup" in file.load.model_fields_set or not file.runs_scripts:
        return file
    return file.model_copy(update={"load": file.load.model_copy(update={"warmup": max(known)})})


def _trace(file: ExperimentFile, beside: Path, source: str) -> TraceFacts:
    try:
        return trace_of(file.load, beside).facts
    except Refusal as refusal:
        raise refusal.in_file(source) from None
