"""The sections of a run's report, in their order, for HTML and Markdown alike.

Enters: nothing. Leaves: `RUN_SECTIONS`. Never: renders.

A section is a function marked with `section`, one template for HTML in the folder of its module,
one for Markdown where Markdown has the section, and a line here.
"""

from __future__ import annotations

from pgassay.report.section import Section
from pgassay.report.sections.answer import diagnosis, effect, factors, gates, trade_offs, why
from pgassay.report.sections.behaviour import (
    buffer_cache,
    checkpoints,
    curves,
    flame_graphs,
    methods,
    modes,
    over_time,
    plans,
    statements,
    waits,
)
from pgassay.report.sections.classic.classic import classic
from pgassay.report.sections.record import measured, method, servers, slices, trials

RUN_SECTIONS: tuple[Section, ...] = (
    gates.gates,
    effect.calibration,
    effect.effect,
    factors.interactions,
    factors.trends,
    why.why,
    trade_offs.trade_offs,
    diagnosis.diagnosis,
    over_time.throughput,
    curves.by_load,
    curves.quantiles,
    modes.modes,
    checkpoints.checkpoints,
    over_time.associations,
    waits.waits,
    methods.methods,
    statements.statements,
    plans.plans,
    buffer_cache.buffer_cache,
    classic,
    flame_graphs.flame_graphs,
    trials.trials,
    trials.steadiness,
    slices.carry_over,
    slices.variants,
    measured.everything,
    method.caveats,
    servers.servers,
    method.environment,
    method.method,
)
