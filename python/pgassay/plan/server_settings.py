"""Which settings an experiment changes on the server, and whether it may.

Enters: the experiment file, its factors, the chosen mode. Leaves: the factors as that mode applies
them; the settings of the server, held or varied, and those of the load's sessions; a `Refusal`
where a permission that they take is not given. Never: chooses the mode, or asks a server.

The load's sessions set what varies in a switchback. So there a factor of `[factors.postgres]` is
one of `[factors.client.settings]`, unless it alternates by reloads: nobody else's session sees it,
and a user who may change nothing on the server can vary it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgassay.plan.model import Factor
from pgassay.plan.modes import SWITCHBACK, ChosenMode, takes_reloads
from pgassay.refusals.refusal import Refusal
from pgassay.spec.factors.kinds import KINDS, SESSION, Applied
from pgassay.spec.model import ExperimentFile


def as_applied(factors: Sequence[Factor], mode: str) -> tuple[Factor, ...]:
    """Returns the factors with the kinds that say where the mode applies them."""
    if mode != SWITCHBACK:
        return tuple(factors)
    return tuple(
        replace(factor, kind=SESSION.name)
        if _is_of_the_server(factor) and not takes_reloads(factor)
        else factor
        for factor in factors
    )


def server_settings(
    file: ExperimentFile, factors: Sequence[Factor]
) -> Mapping[str, tuple[str, ...]]:
    """Returns, by setting of the server, the values it has in the run; the factors are those of a
    plan."""
    held = {name: (value,) for name, value in file.settings.postgres.items()}
    return held | {one.name: one.levels for one in factors if _is_of_the_server(one)}


def session_settings(factors: Sequence[Factor]) -> Mapping[str, tuple[str, ...]]:
    """Returns, by setting of the load's sessions, its levels."""
    return {one.name: one.levels for one in factors if one.kind == SESSION.name}


def refuse_changes(file: ExperimentFile, factors: Sequence[Factor], mode: ChosenMode) -> None:
    """Refuses to change an existing server without permission."""
    changed = next(iter(server_settings(file, factors)), None)
    if changed is None or not file.loads_existing or file.target.allow_changes:
        return
    held = changed in file.settings.postgres
    key = f"{'settings' if held else 'factors'}.postgres.{changed}"
    if held or not _may_be_of_sessions(factors, mode):
        raise Refusal("changes-without-permission", key)
    raise Refusal("changes-without-permission-or-switchback", key)


def _may_be_of_sessions(factors: Sequence[Factor], mode: ChosenMode) -> bool:
    is_valid = mode.name != SWITCHBACK and SWITCHBACK not in mode.refused
    return is_valid and not any(takes_reloads(factor) for factor in factors)


def _is_of_the_server(factor: Factor) -> bool:
    return KINDS[factor.kind].applied is Applied.SETTING
