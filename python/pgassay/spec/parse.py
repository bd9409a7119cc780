"""An experiment file, checked whole before anything is touched.

Enters: a path, or text. Leaves: a frozen `Spec`, or a SpecError naming file, key and fix.
Never: reaches a server; what only the server knows is checked when it is opened.
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.errors import SpecError
from pgassay.spec.arms import arms_of
from pgassay.spec.factor_checks import check_factors
from pgassay.spec.host_knobs import check_knob, check_together, equal_levels
from pgassay.spec.model import ExperimentFile
from pgassay.spec.redaction import secret_line
from pgassay.spec.settings import CATALOGUED, catalogue, check_setting
from pgassay.spec.slices import check_slices
from pgassay.spec.stored import WORKLOAD_COPY, stored_folder, stored_materials
from pgassay.spec.tables import read_table
from pgassay.spec.texts import text_of
from pgassay.spec.units import to_base
from pgassay.spec.variants import Variants, read_variants
from pgassay.spec.workload import Workload, load_workload

DEFAULT_VERSION = 18


@dataclass(frozen=True)
class Spec:
    """One checked experiment: the file's tables, its workload and its seed."""

    file: ExperimentFile
    workload: Workload
    seed: int
    text: str
    source: str
    folder: Path
    """Where the file's relative paths start."""
    variants: Variants = field(default_factory=Variants)
    """The files that levels of factors name."""

    @property
    def question(self) -> str:
        """The question as asked, or one made from the factors."""
        if self.file.question:
            return self.file.question
        factors = " and ".join(name for _, name, _ in self.file.factors.every())
        return f"What does {factors} do?" if factors else f"How fast is {self.workload.name}?"


def load_spec(path: Path, seed: int | None = None, mode: str | None = None) -> Spec:
    """Read and check an experiment file; `seed` and `mode` overrule the file's.

    In a run directory the workload stored beside the file is taken, so that a run is repeated
    with the very scripts it had.
    """
    if path.is_dir():
        raise SpecError("this is a folder; name the .toml file in it", file=str(path))
    text = text_of(path)
    stored = path.parent / WORKLOAD_COPY
    is_run = (path.parent / "plan.json").is_file() and stored.is_file()
    return parse_spec(
        text,
        source=str(path),
        beside=(stored_folder(stored) if is_run else None) or path.parent,
        seed=seed,
        mode=mode,
        materials=stored_materials(stored) if is_run else None,
    )


def parse_spec(
    text: str,
    *,
    source: str,
    beside: Path,
    seed: int | None = None,
    mode: str | None = None,
    materials: tuple[Workload, Variants] | None = None,
) -> Spec:
    """Check an experiment's text; `beside` is the folder its relative paths start from."""
    file = read_table(ExperimentFile, text, source)
    if mode is not None:
        design = file.design.model_copy(update={"mode": mode})
        file = file.model_copy(update={"design": design})
    _refuse_secrets(text, source)
    try:
        _check_settings(file)
        _check_knobs(file)
    except SpecError as error:
        raise SpecError(error.problem, file=source, key=error.key) from None
    if materials is None:
        variants = read_variants(file.factors, beside, file=source)
        first = next(iter(variants.workloads.values()), None)
        materials = (first or load_workload(file.workload.use, beside, file=source), variants)
    given = seed if seed is not None else file.design.seed
    spec = Spec(
        file=file,
        workload=materials[0],
        seed=secrets.randbelow(2**31) if given is None else given,
        text=text,
        source=source,
        folder=beside.resolve(),
        variants=materials[1],
    )
    check_factors(spec, _known_majors(file))
    for _, one in arms_of(spec):
        _check_weights(one.file, one.workload, source)
        _check_slices(one.file, one.workload, source)
    return spec


def _refuse_secrets(text: str, source: str) -> None:
    """The file is stored with every run, and words of a command are seen by all users."""
    line = secret_line(text)
    if line is not None:
        raise SpecError(
            f"line {line} holds what looks like a password; use ~/.pgpass, PGPASSWORD or a"
            " service, which a command of yours is told as PGPASSFILE",
            file=source,
        )


def _check_weights(file: ExperimentFile, workload: Workload, source: str) -> None:
    """A number of connections of its own makes sense only where scenarios have their own."""
    constant = next((s for s in workload.scenarios if s.weight < 0), None)
    if constant is not None and file.load.pools != "per_scenario" and file.load.command is None:
        raise SpecError(
            f"scenario {constant.name!r} has weight {constant.weight:g}, which means"
            ' that many connections of its own; write pools = "per_scenario"',
            file=source,
            key="load.pools",
        )


def _check_slices(file: ExperimentFile, workload: Workload, source: str) -> None:
    if file.load.slices is None:
        return
    held = {*file.factors.postgres, *file.settings.postgres, *file.load.settings}
    try:
        for major in _known_majors(file):
            check_slices(file.load.slices, workload, held, major)
    except SpecError as error:
        raise SpecError(error.problem, file=source, key=error.key) from None


def _check_settings(file: ExperimentFile) -> None:
    majors = _known_majors(file)
    for name, value in file.settings.postgres.items():
        for major in majors:
            check_setting(f"settings.postgres.{name}", name, value, major)
    for name, levels in file.factors.postgres.items():
        key = f"factors.postgres.{name}"
        if name in file.settings.postgres:
            raise SpecError("is also held in [settings.postgres]; keep one of the two", key=key)
        if len(levels) < 2:
            raise SpecError("a factor needs at least two levels", key=key)
        for level, major in itertools.product(levels, majors):
            check_setting(key, name, level, major)
        _refuse_equal_levels(key, name, levels)


def _check_knobs(file: ExperimentFile) -> None:
    keys: dict[str, str] = {}
    for name, value in file.settings.host.items():
        keys[name] = f"settings.host.{name}"
        check_knob(keys[name], name, value)
    for name, levels in file.factors.host.items():
        key = f"factors.host.{name}"
        if name in keys:
            raise SpecError("is also held in [settings.host]; keep one of the two", key=key)
        if name in file.factors.postgres:
            raise SpecError("is also in [factors.postgres]; keep one of the two", key=key)
        if len(levels) < 2:
            raise SpecError("a factor needs at least two levels", key=key)
        keys[name] = key
        for level in levels:
            check_knob(key, name, level)
        if equal := equal_levels(levels):
            raise SpecError(f"{equal[0]!r} and {equal[1]!r} are the same level", key=key)
    check_together(keys)


def _refuse_equal_levels(key: str, name: str, levels: tuple[str, ...]) -> None:
    entry = next((catalogue(m)[name] for m in CATALOGUED if name in catalogue(m)), None)
    seen: dict[str, str] = {}
    for level in levels:
        base = to_base(level, entry.get("unit"), entry["vartype"]) if entry else level
        if base in seen:
            raise SpecError(f"{seen[base]!r} and {level!r} are the same level", key=key)
        seen[base] = level


def _known_majors(file: ExperimentFile) -> tuple[int | None, ...]:
    """The major versions under test; None for one that only its server tells."""
    levels = file.factors.target
    if levels.version is not None or levels.bin is not None:
        servers = [*(levels.version or {}).values(), *(levels.bin or {}).values()]
        return tuple(dict.fromkeys(s if isinstance(s, int) else None for s in servers))
    if file.target.is_existing or file.target.bin is not None:
        return (None,)
    return (file.target.version or DEFAULT_VERSION,)
