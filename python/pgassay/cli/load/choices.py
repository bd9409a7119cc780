"""A command line's options as one load.

Enters: the options' values. Leaves: scenarios and a `LoadRequest`, or a SpecError that names the
option. Never: reaches a server.

Which options go together is pgbench's rule wherever pgbench has one.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pgassay.cli.load.rules import NO_END_S, refuse_contradictions
from pgassay.errors import SpecError
from pgassay.plan.steps import Step, level_steps, shuffled, stage_steps, warmed_up
from pgassay.spec.load.amounts import amounts, is_stages, stages, think_time
from pgassay.spec.load.slices import SlicesTable, check_slices, read_slices
from pgassay.spec.reading.units import duration_s
from pgassay.spec.reading.values import busy_poll_s
from pgassay.spec.workload.folder import Scenario, Workload
from pgassay.spec.workload.scripts import builtin_script, read_script
from pgassay.trials.load.engine import LoadRequest, LogRequest

MOST_RATE = 1e9
MOST_SCRIPTS = 128
DEFAULT_TRANSACTIONS = 10
DEFAULT_LOG_PREFIX = "pgbench_log"
SEED_VARIABLE = "PGBENCH_RANDOM_SEED"
_PROTOCOLS = ("simple", "extended", "prepared")
_POOLS = {"shared": "shared", "per-scenario": "per_scenario", "per_scenario": "per_scenario"}
_RECONNECTS = {
    "never": "never",
    "on-loss": "on_loss",
    "on_loss": "on_loss",
    "each-transaction": "each_transaction",
    "each_transaction": "each_transaction",
}
_VARIABLE = re.compile("[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*")
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class LoadChoices:
    """Every option of `pgassay load` that shapes the load; names are those of the command."""

    files: list[str] | None = None
    builtins: list[str] | None = None
    select_only: bool = False
    simple_update: bool = False
    define: list[str] | None = None
    scale: int | None = None
    random_seed: str | None = None
    allow_shell: bool = False
    clients: int | None = None
    threads: int = 1
    duration: float | None = None
    transactions: int | None = None
    rate: str | None = None
    latency_limit: float | None = None
    max_tries: int | None = None
    protocol: str = "simple"
    connect: bool = False
    progress: float | None = None
    progress_timestamp: bool = False
    report_per_command: bool = False
    failures_detailed: bool = False
    exit_on_abort: bool = False
    verbose_errors: bool = False
    log: bool = False
    log_prefix: str | None = None
    sampling_rate: float | None = None
    aggregate_interval: int | None = None
    steps: str | None = None
    shuffle: bool = False
    warmup: str | None = None
    arrivals: str | None = None
    pool: str | None = None
    think_time: str | None = None
    reconnect: str | None = None
    slices: str | None = None
    interval: str | None = None
    intervals: Path | None = None
    transport: str | None = None
    busy_poll: str | None = None

    @property
    def uses_builtin(self) -> bool:
        """Whether one of pgbench's own scripts runs, so that its tables give the scale."""
        return not self.files or bool(self.builtins or self.select_only or self.simple_update)


def scenarios_of(choices: LoadChoices) -> list[Scenario]:
    """The scripts asked for; tpcb-like where none is."""
    names = [*(choices.builtins or []), *(["select-only"] * choices.select_only)]
    names += ["simple-update"] * choices.simple_update
    count = len(choices.files or []) + len(names)
    if count > MOST_SCRIPTS:
        raise SpecError(f"{count} scripts; at most {MOST_SCRIPTS} are allowed, as in pgbench")
    found = [read_script(named) for named in choices.files or []]
    found += [builtin_script(named) for named in names or ([] if choices.files else ["tpcb-like"])]
    return _distinct(found)


def request_of(choices: LoadChoices, scenarios: Sequence[Scenario]) -> LoadRequest:
    """The load; its scale is 1 until the server has said another."""
    refuse_contradictions(choices)
    seed = _seed(choices.random_seed)
    steps = _steps(choices, seed)
    pools = _one_of("--pool", choices.pool, _POOLS)
    constant = next((s for s in scenarios if s.weight < 0), None)
    if constant is not None and pools != "per_scenario":
        raise SpecError(f"{constant.file}@{constant.weight:g}: add --pool per-scenario")
    if choices.rate is not None and not any(scenario.weight > 0 for scenario in scenarios):
        raise SpecError("-R needs a script with a weight above 0: @-n runs without a rate")
    if not any(scenario.weight for scenario in scenarios):
        raise SpecError("every script has weight 0; give one of them more")
    return LoadRequest(
        scenarios=scenarios,
        steps=steps,
        variables={"scale": choices.scale or 1, **_defined(choices.define or [])},
        seed=seed,
        threads=min(choices.threads, max(step.clients for step in steps)),
        protocol=_among("-M", choices.protocol, _PROTOCOLS),
        transactions_per_client=_transactions(choices),
        interval_s=_interval_s(choices.interval),
        arrivals=_among("--arrivals", choices.arrivals, ("poisson", "constant")),
        latency_limit_ms=choices.latency_limit,
        pools=pools,
        think_time=_read("--think-time", think_time, choices.think_time),
        max_tries=choices.max_tries,
        reconnect=_reconnect(choices),
        statements=True if choices.report_per_command else None,
        log=_log(choices),
        allow_shell=True if choices.allow_shell else None,
        exit_on_abort=True if choices.exit_on_abort else None,
        verbose_errors=True if choices.verbose_errors else None,
        slices=_slices(choices, scenarios, steps),
        transport=_among("--transport", choices.transport, ("auto", "io_uring", "epoll")),
        busy_poll_s=_read("--busy-poll", busy_poll_s, choices.busy_poll),
    )


def _steps(choices: LoadChoices, seed: int) -> tuple[Step, ...]:
    rates = _read("-R", lambda text: amounts(text, whole=False), choices.rate)
    if rates is not None and not 0 < min(rates) <= max(rates) <= MOST_RATE:
        raise SpecError(f"-R {choices.rate}: a rate is above 0, and at most {MOST_RATE:.0e}")
    warmup_s = _warmup_s(choices)
    if choices.steps is not None and is_stages(choices.steps):
        if choices.duration is not None or choices.transactions is not None:
            raise SpecError("stages have times of their own; drop -T and -t")
        if rates is not None and len(rates) > 1:
            raise SpecError("either --steps or -R may have several levels; keep one")
        found = _read("--steps", stages, choices.steps) or ()
        measured = stage_steps(found, rates[0] if rates else None)
    else:
        measured = _level_steps(choices, rates)
    planned = warmed_up(measured, warmup_s)
    return shuffled(planned, seed) if choices.shuffle else planned


def _warmup_s(choices: LoadChoices) -> float | None:
    found = _read("--warmup", duration_s, choices.warmup)
    if found is None or found == 0:
        return None
    if not 0 < found <= NO_END_S:
        raise SpecError(f"--warmup {choices.warmup}: write a time such as 10s, or 0 for none")
    if _transactions(choices) is not None:
        raise SpecError("--warmup needs -T, the seconds that are measured after it, not -t")
    return found


def _level_steps(choices: LoadChoices, rates: tuple[float, ...] | None) -> tuple[Step, ...]:
    clients: tuple[int, ...] = (choices.clients or 1,)
    if choices.steps is not None:
        levels = _read("--steps", lambda text: amounts(text, whole=True), choices.steps) or ()
        if min(levels) < 1:
            raise SpecError(f"--steps {choices.steps}: a step has at least one client")
        clients = tuple(int(level) for level in levels)
    several = len(clients) > 1 or (rates is not None and len(rates) > 1)
    if len(clients) > 1 and rates is not None and len(rates) > 1:
        raise SpecError("either --steps or -R may have several levels; keep one")
    if several and choices.duration is None:
        raise SpecError("steps need -T, the seconds of each")
    return level_steps(clients, rates, choices.duration or NO_END_S)


def _transactions(choices: LoadChoices) -> int | None:
    if choices.duration is not None or (choices.steps is not None and is_stages(choices.steps)):
        return None
    return choices.transactions or DEFAULT_TRANSACTIONS


def _seed(written: str | None) -> int:
    word = written if written is not None else os.environ.get(SEED_VARIABLE, "time")
    if word == "time":
        return time.time_ns() // 1000
    if word == "rand":
        return secrets.randbits(62)
    if re.fullmatch(r"[0-9]{1,20}", word) and int(word) < 2**64:
        return int(word)
    raise SpecError(f"--random-seed {word}: write an integer of 0 to 2^64 - 1, time or rand")


def _reconnect(choices: LoadChoices) -> str | None:
    asked = _one_of("--reconnect", choices.reconnect, _RECONNECTS)
    if choices.connect and asked not in (None, "each_transaction"):
        raise SpecError(f"-C and --reconnect {choices.reconnect} exclude each other; keep one")
    return "each_transaction" if choices.connect else asked


def _slices(
    choices: LoadChoices, scenarios: Sequence[Scenario], steps: Sequence[Step]
) -> SlicesTable | None:
    if choices.slices is None:
        return None
    if _transactions(choices) is not None:
        raise SpecError("--slices needs -T, the seconds in which variants alternate, not -t")
    found = read_slices(choices.slices)
    try:
        check_slices(found, Workload("the load", "", "", "", tuple(scenarios)), (), None)
    except SpecError as error:
        raise SpecError(error.problem, file=choices.slices, key=error.key) from None
    shortest = min(step.duration_s for step in steps if step.measured)
    if found.round_s > shortest:
        raise SpecError(
            f"one round of the slices takes {found.round_s:g} s and a step {shortest:g} s;"
            " make slices shorter or -T longer",
            file=choices.slices,
            key="load.slices",
        )
    return found


def _log(choices: LoadChoices) -> LogRequest | None:
    rate, seconds = choices.sampling_rate, choices.aggregate_interval
    if not choices.log:
        given = {
            "--log-prefix": choices.log_prefix,
            "--sampling-rate": rate,
            "--aggregate-interval": seconds,
        }
        for option, value in given.items():
            if value is not None:
                raise SpecError(f"{option} belongs to -l; add it")
        return None
    if rate is not None and not 0 < rate <= 1:
        raise SpecError(f"--sampling-rate {rate:g}: write a share above 0, up to 1")
    if rate is not None and seconds is not None:
        raise SpecError("--sampling-rate and --aggregate-interval exclude each other; keep one")
    if seconds is not None and choices.duration is not None and choices.duration % seconds:
        raise SpecError(
            f"--aggregate-interval {seconds}: -T {choices.duration:g} is no multiple of it"
        )
    prefix = choices.log_prefix or DEFAULT_LOG_PREFIX
    folder = Path(prefix).parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise SpecError(f"--log-prefix {prefix}: {folder} is no folder that can be written to")
    return LogRequest(prefix, rate, seconds, True if choices.failures_detailed else None)


def _interval_s(written: str | None) -> float:
    found = _read("--interval", duration_s, written)
    if found is None:
        return 1.0
    if not 0.1 <= found <= 3600:
        raise SpecError(f"--interval {written}: write 100ms to 1h")
    return found


def _one_of(option: str, written: str | None, known: dict[str, str]) -> str | None:
    _among(option, written, tuple(name for name in known if "_" not in name))
    return None if written is None else known[written]


def _among(option: str, written: Any, known: Sequence[str]) -> Any:
    if written is not None and written not in known:
        raise SpecError(f"{option} {written}: known are {', '.join(known)}")
    return written


def _read(option: str, reader: Callable[[str], _Value], written: str | None) -> _Value | None:
    if written is None:
        return None
    try:
        return reader(written)
    except ValueError as error:
        raise SpecError(f"{option} {written}: {error}") from None


def _defined(pairs: list[str]) -> dict[str, str]:
    """Values stay text, as in pgbench: scripts read them when an expression needs them."""
    found = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if not value or not _VARIABLE.fullmatch(name):
            raise SpecError(
                f"-D {pair}: write VARIABLE=VALUE, of letters, digits and _, no digit first"
            )
        found[name] = value
    return found


def _distinct(scenarios: list[Scenario]) -> list[Scenario]:
    """The same script twice is two scenarios; their names must tell them apart."""
    seen: dict[str, int] = {}
    found = []
    for scenario in scenarios:
        seen[scenario.name] = seen.get(scenario.name, 0) + 1
        again = seen[scenario.name]
        name = scenario.name if again == 1 else f"{scenario.name} ({again})"
        found.append(replace(scenario, name=name))
    return found
