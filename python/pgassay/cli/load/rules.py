"""Which options of `pgassay load` go together; pgbench's rules wherever pgbench has one.

Enters: the options. Leaves: nothing, or a SpecError that names the options and what to do.
Never: reads what an option's text means.
"""

from __future__ import annotations

import math

from pgassay.cli.load.options import LoadOptions
from pgassay.refusals.refusal import Refusal

NO_END_S = 9 * 365 * 86400.0
"""The longest time; a load without an end gets it."""


def refuse_contradictions(o: LoadOptions) -> None:
    """Raises SpecError for options that exclude or need each other."""
    for option, number, most in (
        ("-T", o.duration, NO_END_S),
        ("-L", o.latency_limit, 1e3 * NO_END_S),
        ("-P", o.progress, NO_END_S),
    ):
        if number is not None and not (math.isfinite(number) and 0 < number <= most):
            raise Refusal("limit-form", f"{option} {number:g}", most=most)
    for option, value, needed, is_given in (
        ("--progress-timestamp", o.progress_timestamp, "-P", o.progress),
        ("--arrivals", o.arrivals, "-R", o.rate),
        ("--log-prefix", o.log_prefix, "-l", o.log),
        ("--sampling-rate", o.sampling_rate, "-l", o.log),
        ("--aggregate-interval", o.aggregate_interval, "-l", o.log),
        ("--over", o.over, "--search", o.search),
        ("--from", o.lowest, "--search", o.search),
        ("--to", o.highest, "--search", o.search),
        ("--within", o.within, "--search", o.search),
        ("--confidence", o.confidence, "--search", o.search),
    ):
        if _is_given(value) and not is_given:
            raise Refusal("option-without", option=option, other=needed)
    reconnect = None if o.reconnect in (None, "each-transaction") else o.reconnect
    for option, value, other, other_value in (
        ("-t", o.transactions, "-T", o.duration),
        ("--steps", o.steps, "-c", o.clients),
        ("--think-time", o.think_time, "-R", o.rate),
        ("--sampling-rate", o.sampling_rate, "--aggregate-interval", o.aggregate_interval),
        ("-C", o.connect, f"--reconnect {reconnect}", reconnect),
        ("--exit-on-abort", o.exit_on_abort, "--reconnect on-loss", o.reconnect == "on-loss"),
        ("--exit-on-abort", o.exit_on_abort, "--continue-on-error", o.continue_on_error),
    ):
        if _is_given(value) and _is_given(other_value):
            raise Refusal("options-exclude-each-other", option=option, other=other)
    if o.max_tries == 0 and o.duration is None and o.latency_limit is None:
        raise Refusal("tries-without-end")
    if o.shuffle and o.steps is None and not (o.rate and (".." in o.rate or "," in o.rate)):
        raise Refusal("shuffle-of-one-step")
    if o.stages and not (o.duration is None and o.transactions is None):
        raise Refusal("time-beside-stages")
    if o.slices is not None and o.counts_transactions:
        raise Refusal("slices-of-transactions")


def refuse_beside_search(o: LoadOptions) -> None:
    """Stop at options that a search sets itself, and at those whose output it does not show."""
    for option, value in {
        "--steps": o.steps,
        "-R": o.rate,
        "-t": o.transactions,
        "-l": o.log,
        "--slices": o.slices,
        "-P": o.progress,
        "-r": o.report_per_command,
        "--failures-detailed": o.failures_detailed,
        "--interval": o.interval,
        "--intervals": o.intervals,
    }.items():
        if _is_given(value):
            raise Refusal("options-exclude-each-other", option=option, other="--search")
    if o.over == "clients" and o.clients is not None:
        raise Refusal("options-exclude-each-other", option="-c", other="--over clients")


def _is_given(value: object) -> bool:
    return value is not None and value is not False
