"""The sections of a run's report, in their order, for HTML and Markdown alike.

Enters: nothing. Leaves: `RUN_PARTS`, `RUN_SECTIONS`. Never: renders.

A section is a function that yields blocks, marked with `section`, and a line here.
"""

from __future__ import annotations

from pgassay.language import Message
from pgassay.report.document.section import Section
from pgassay.report.sections.answer import (
    by_server,
    diagnosis,
    effect,
    factors,
    gates,
    profiles,
    trade_offs,
    why,
)
from pgassay.report.sections.behaviour import (
    buffer_cache,
    checkpoints,
    curves,
    flame_graphs,
    infrastructure,
    methods,
    modes,
    over_time,
    plans,
    speed,
    statements,
    trace_statements,
    waits,
)
from pgassay.report.sections.classic import classic
from pgassay.report.sections.queries import plans as query_plans
from pgassay.report.sections.queries import verdicts
from pgassay.report.sections.record import measured, method, servers, slices, trials, workload

RUN_PARTS: tuple[tuple[str, tuple[Section, ...]], ...] = (
    (
        Message("The answer"),
        (
            gates.gates,
            effect.calibration,
            profiles.profiles,
            effect.effect,
            verdicts.verdicts,
            query_plans.plans,
            by_server.by_server,
            factors.interactions,
            factors.trends,
            curves.by_load,
            trade_offs.trade_offs,
        ),
    ),
    (Message("Why"), (why.why, diagnosis.diagnosis)),
    (
        Message("Can it be trusted?"),
        (
            method.caveats,
            method.repeat,
            trials.trials,
            trials.halves,
            trials.steadiness,
            slices.carry_over,
            slices.variants,
            method.method,
        ),
    ),
    (
        Message("What happened"),
        (
            over_time.throughput,
            curves.quantiles,
            modes.modes,
            waits.waits,
            infrastructure.infrastructure,
            speed.speed,
            trace_statements.trace_statements,
            statements.statements,
            plans.plans,
            checkpoints.checkpoints,
            over_time.associations,
            methods.methods,
            methods.resources,
            buffer_cache.buffer_cache,
            classic,
            flame_graphs.flame_graphs,
        ),
    ),
    (
        Message("The record"),
        (
            measured.everything,
            workload.workload,
            servers.servers,
            method.environment,
        ),
    ),
)
"""Title → sections; the titles stand in the list of contents."""

RUN_SECTIONS: tuple[Section, ...] = tuple(one for _, part in RUN_PARTS for one in part)
