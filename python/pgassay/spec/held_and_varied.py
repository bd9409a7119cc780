"""Settings and knobs of an experiment file, held or varied: known, in range, each given once.

Enters: the tables of the file. Leaves: nothing, or a SpecError (without a file) naming the key.
Never: has the last word; the server and its host check again when they are opened.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from pgassay.errors import SpecError
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.server.host_knobs import check_knob, check_together, normal
from pgassay.spec.settings.catalogue import check_setting, entries_of

DEFAULT_VERSION = 18


def known_majors(file: ExperimentFile) -> tuple[int | None, ...]:
    """The major versions under test; None for a server whose version is not in the file."""
    levels = file.factors.target
    if levels.version is not None or levels.bin is not None:
        servers = [*(levels.version or {}).values(), *(levels.bin or {}).values()]
        return tuple(dict.fromkeys(s if isinstance(s, int) else None for s in servers))
    if file.target.is_existing or file.target.bin is not None:
        return (None,)
    return (file.target.version or DEFAULT_VERSION,)


def check_settings(file: ExperimentFile) -> None:
    """Refuse settings that no version under test has, and levels that are equal or too few."""
    majors = known_majors(file)
    for name, value in file.settings.postgres.items():
        for major in majors:
            check_setting(f"settings.postgres.{name}", name, value, major)
    for name, levels in file.factors.postgres.items():
        key = f"factors.postgres.{name}"
        if name in file.settings.postgres:
            raise SpecError("is also in [settings.postgres]; keep one of the two", key=key)
        refuse_too_few(key, levels)
        for level, major in itertools.product(levels, majors):
            check_setting(key, name, level, major)
        entry = next(iter(entries_of(name)), None)
        values = [
            to_base(one, entry.get("unit"), entry["vartype"]) if entry else one for one in levels
        ]
        refuse_equal_levels(key, levels, values)


def check_knobs(file: ExperimentFile) -> None:
    """Refuse knobs that no host can have, and knobs that exclude each other."""
    keys: dict[str, str] = {}
    for name, value in file.settings.host.items():
        keys[name] = f"settings.host.{name}"
        check_knob(keys[name], name, value)
    for name, levels in file.factors.host.items():
        key = f"factors.host.{name}"
        if name in keys:
            raise SpecError("is also in [settings.host]; keep one of the two", key=key)
        if name in file.factors.postgres:
            raise SpecError("is also in [factors.postgres]; keep one of the two", key=key)
        refuse_too_few(key, levels)
        keys[name] = key
        for level in levels:
            check_knob(key, name, level)
        refuse_equal_levels(key, levels, map(normal, levels))
    check_together(keys)


def refuse_too_few(key: str, levels: tuple[str, ...]) -> None:
    """Refuse a factor with a single level."""
    if len(levels) < 2:
        raise SpecError("a factor needs at least two levels", key=key)


def refuse_equal_levels(key: str, levels: Iterable[str], values: Iterable[str]) -> None:
    """Refuse two levels, by name, that have the same value."""
    seen: dict[str, str] = {}
    for level, value in zip(levels, values, strict=True):
        if value in seen:
            raise SpecError(f"{seen[value]!r} and {level!r} are the same level", key=key)
        seen[value] = level


def controlled(file: ExperimentFile) -> set[str]:
    """The settings that an experiment varies or holds."""
    factors = file.factors
    return {
        *file.settings.postgres, *factors.postgres, *file.load.settings,
        *(factors.client.settings or {}),
    }  # fmt: skip
