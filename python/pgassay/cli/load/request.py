"""The options of `pgassay load` as one load, and which go together, by pgbench's rules.

Enters: the options. Leaves: scenarios and a `LoadRequest`, or a SpecError that names the options.
Never: reaches a server.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pgassay.cli.load.options import LoadOptions
from pgassay.plan.steps import Step, level_steps, shuffled, stage_steps, warmed_up
from pgassay.refusals.refusal import Refusal, UnfitValue, refuse
from pgassay.spec.load.amounts import amounts, stages, think_time
from pgassay.spec.load.slices import SlicesTable, read_slices
from pgassay.spec.reading.texts import shown
from pgassay.spec.reading.units import duration_s
from pgassay.spec.reading.values import busy_poll_s
from pgassay.spec.refusals.arms import misfits_of_slices
from pgassay.spec.workload.folder import Scenario, Workload
from pgassay.spec.workload.parameters import VARIABLE, parameter_file
from pgassay.spec.workload.scripts import builtin_script, read_script
from pgassay.trials.load.engine import LoadRequest, LogRequest

MOST_RATE = 1e9
_MOST_SCRIPTS = 128
_DEFAULT_TRANSACTIONS = 10
_Value = TypeVar("_Value")


def scenarios_of(options: LoadOptions) -> list[Scenario]:
    """Returns the scripts that the options name; pgbench's tpcb-like where they name none."""
    names = [*(options.builtins or []), *["select-only"] * options.select_only]
    names += ["simple-update"] * options.simple_update
    count = len(options.files or []) + len(names)
    if count > _MOST_SCRIPTS:
        raise Refusal("too-many-scripts", count=count, most=_MOST_SCRIPTS)
    found = [read_script(named) for named in options.files or []]
    if options.parameters is not None:
        if not found:
            raise Refusal("parameters-without-script", "--parameters")
        rows = parameter_file(options.parameters, options.row_order or "random", "--parameters")
        found = [replace(one, parameters=rows) for one in found]
    found += [builtin_script(named) for named in names or ([] if options.files else ["tpcb-like"])]
    return _distinct(found)


def request_of(options: LoadOptions, scenarios: Sequence[Scenario]) -> LoadRequest:
    """Returns the load that the options describe; its scale is 1 until the server has said
    another."""
    refuse_contradictions(options)
    seed = _seed(options.random_seed)
    steps = _steps(options, seed)
    constant = next((s for s in scenarios if s.weight < 0), None)
    if constant is not None and options.pool != "per-scenario":
        raise Refusal("own-connections-of-one-pool", f"{constant.file}@{constant.weight:g}")
    if options.rate is not None and not any(scenario.weight > 0 for scenario in scenarios):
        raise Refusal("rate-without-script")
    if not any(scenario.weight for scenario in scenarios):
        raise Refusal("no-script-has-weight")
    reconnect = "each-transaction" if options.connect else options.reconnect
    transactions = options.transactions or _DEFAULT_TRANSACTIONS
    return LoadRequest(
        scenarios=scenarios,
        steps=steps,
        variables={"scale": options.scale or 1, **_defined(options.define or [])},
        seed=seed,
        threads=min(options.threads, max(step.clients for step in steps)),
        protocol=options.protocol,
        transactions_per_client=transactions if options.counts_transactions else None,
        interval_s=_interval_s(options.interval),
        arrivals=options.arrivals,
        latency_limit_ms=options.latency_limit,
        pools=options.pool and options.pool.replace("-", "_"),
        think_time=_read("--think-time", think_time, options.think_time),
        max_tries=options.max_tries,
        reconnect=reconnect and reconnect.replace("-", "_"),
        statements=options.report_per_command or None,
        log=_log(options) if options.log else None,
        allow_shell=options.allow_shell or None,
        exit_on_abort=options.exit_on_abort or None,
        verbose_errors=options.verbose_errors or None,
        slices=_slices(options.slices, scenarios, steps) if options.slices else None,
        transport=options.transport,
        busy_poll_s=_read("--busy-poll", busy_poll_s, options.busy_poll),
    )


def _steps(options: LoadOptions, seed: int) -> tuple[Step, ...]:
    rates = _read("-R", lambda text: amounts(text, whole=False), options.rate)
    if rates is not None and not 0 < min(rates) <= max(rates) <= MOST_RATE:
        raise Refusal("rate-out-of-range", f"-R {options.rate}", most=MOST_RATE)
    if options.steps is not None and rates is not None and len(rates) > 1:
        raise Refusal("steps-and-rate-vary")
    if options.stages:
        found = _read("--steps", stages, options.steps) or ()
        measured = stage_steps(found, rates[0] if rates else None)
    else:
        levels = _read("--steps", lambda text: amounts(text, whole=True), options.steps)
        levels = levels or (options.clients or 1,)
        if min(levels) < 1:
            raise Refusal("step-without-clients", f"--steps {options.steps}")
        clients = tuple(int(level) for level in levels)
        measured = level_steps(clients, rates, options.duration or NO_END_S)
    if len(measured) > 1 and options.counts_transactions:
        raise Refusal("steps-without-time")
    planned = warmed_up(measured, _warmup_s(options))
    return shuffled(planned, seed) if options.shuffle else planned


def _warmup_s(options: LoadOptions) -> float | None:
    found = _read("--warmup", duration_s, options.warmup)
    if found is None or found == 0:
        return None
    if not 0 < found <= NO_END_S:
        raise Refusal("warmup-form", f"--warmup {options.warmup}")
    if options.counts_transactions:
        raise Refusal("warmup-of-transactions")
    return found


def _seed(written: str | None) -> int:
    word = written if written is not None else os.environ.get("PGBENCH_RANDOM_SEED", "time")
    if word == "time":
        return time.time_ns() // 1000
    if word == "rand":
        return secrets.randbits(62)
    if re.fullmatch(r"[0-9]{1,20}", word) and int(word) < 2**64:
        return int(word)
    raise Refusal("random-seed-form", f"--random-seed {word}")


def _slices(file: str, scenarios: Sequence[Scenario], steps: Sequence[Step]) -> SlicesTable:
    found = read_slices(file)
    refuse(misfits_of_slices(found, Workload("the load", "", "", "", tuple(scenarios))), file)
    shortest = min(step.duration_s for step in steps if step.measured)
    if found.round_s > shortest:
        raise Refusal(
            "round-longer-than-any-step", round_s=found.round_s, shortest=shortest
        ).in_file(file)
    return found


def _log(options: LoadOptions) -> LogRequest:
    rate, seconds = options.sampling_rate, options.aggregate_interval
    if rate is not None and not 0 < rate <= 1:
        raise Refusal("sampling-rate-form", f"--sampling-rate {rate:g}")
    if seconds is not None and options.duration is not None and options.duration % seconds:
        raise Refusal(
            "no-multiple-of-the-interval", f"--aggregate-interval {seconds}", time=options.duration
        )
    prefix = options.log_prefix or "pgbench_log"
    folder = Path(prefix).parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise Refusal("folder-not-writable", f"--log-prefix {prefix}", folder=folder)
    return LogRequest(prefix, rate, seconds, options.failures_detailed or None)


def _interval_s(written: str | None) -> float:
    found = _read("--interval", duration_s, written)
    if found is None:
        return 1.0
    if not 0.1 <= found <= 3600:
        raise Refusal("interval-form", f"--interval {written}")
    return found


def _read(option: str, reader: Callable[[str], _Value], written: str | None) -> _Value | None:
    if written is None:
        return None
    try:
        return reader(written)
    except UnfitValue as error:
        raise error.refusal.at(f"{option} {written}") from None


def _defined(pairs: list[str]) -> dict[str, str]:
    """Values stay text, as in pgbench: scripts read them when an expression needs them."""
    found = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if not value or not VARIABLE.fullmatch(name):
            raise Refusal("define-form", f"-D {shown(pair)}")
        found[name] = value
    return found


def _distinct(scenarios: list[Scenario]) -> list[Scenario]:
    """The same script twice is two scenarios; their names must tell them apart."""
    counts: Counter[str] = Counter()
    found = []
    for scenario in scenarios:
        counts[scenario.name] += 1
        number = counts[scenario.name]
        name = scenario.name if number == 1 else f"{scenario.name} ({number})"
        found.append(replace(scenario, name=name))
    return found


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
        ("--row-order", o.row_order, "--parameters", o.parameters),
        ("--arrivals", o.arrivals, "-R", o.rate),
        ("--log-prefix", o.log_prefix, "-l", o.log),
        ("--sampling-rate", o.sampling_rate, "-l", o.log),
        ("--aggregate-interval", o.aggregate_interval, "-l", o.log),
        ("--speed", o.speed, "--replay", o.replay),
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
