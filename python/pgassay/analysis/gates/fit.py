"""Does a gate name anything that the run has?

Enters: gates, the plan. Leaves: nothing, or a SetupRefused that says what there is. Never: asks
what was measured; a gate on what a run could not measure has no checks, and is no pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgassay.analysis.gates.queries import OF_A_QUERY, matching
from pgassay.analysis.reading.metrics import part_of
from pgassay.plan.model import Gate, Plan
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.endpoints import OF_A_SCENARIO, OF_QUERIES, is_pooled
from pgassay.spec.reading.suggest import did_you_mean


def refuse_unnamed(gates: Iterable[Gate], plan: Plan) -> None:
    """Raises SetupRefused for the first gate that is on no query, endpoint or metric of the
    plan."""
    for gate in gates:
        if plan.queries is None:
            _refuse_no_endpoint(gate, plan)
        else:
            _refuse_no_query(gate, plan.queries.names)


def _refuse_no_query(gate: Gate, names: Sequence[str]) -> None:
    named, key = part_of(gate.metrics[0]), f"--gate {gate.text!r}"
    if named is None:
        if is_pooled(gate.metrics[0]):
            raise SetupRefused("gate-of-all-queries", key, name=gate.metrics[-1])
        return
    part, measure = named
    if measure not in OF_A_QUERY:
        raise SetupRefused("gate-measure-of-a-query", key, part=part, measure=measure)
    # A plan of an old version does not know its queries.
    if names and not matching(part, names):
        raise SetupRefused("gate-of-no-query", key, name=part, near=did_you_mean(part, names))


def _refuse_no_endpoint(gate: Gate, plan: Plan) -> None:
    (name, *others), key = gate.metrics, f"--gate {gate.text!r}"
    named = part_of(name)
    of_set = named is not None and named[1] in OF_A_QUERY and named[1] not in OF_A_SCENARIO
    if of_set or (name == OF_QUERIES and not others):
        raise SetupRefused("gate-of-no-set", key)
    endpoints = [one.metric for one in plan.endpoints]
    if named is not None and name not in endpoints:
        of_parts = [one for one in endpoints if part_of(one)]
        near = did_you_mean(name, of_parts)
        raise SetupRefused("gate-of-no-endpoint", key, name=name, near=near)
