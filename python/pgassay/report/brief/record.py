"""How and where a run was made, line by line: design, workload, settings, environment, command.

Enters: the context. Leaves: part → its lines. Never: relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import Message, clauses, colon, decimals, listed, tr
from pgassay.plan.description import combinations_line, mode_in_force, order_of, plots_line
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.lines import pair_line, pair_lines
from pgassay.report.context import ReportContext
from pgassay.report.environment import environment_lists, not_measured
from pgassay.report.summaries import headline
from pgassay.spec.secrets.redaction import shown_of

_SETTINGS = Message("Server settings other than the defaults")
_ELSEWHERE = (_SETTINGS, Message("Not measured, and how to enable it"))
_FIRST = (Message("Server"), Message("Sizes at the start"), Message("Host"))
_MOST_BLOCKS = 3
"""Whose order is shown; the seed draws all of them."""


def record_parts(context: ReportContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    return {
        "design": list(_design(context)),
        "workload": list(_workload(context)),
        "settings": list(_settings(context)),
        "environment": environment_lines(context.environment),
        "not_measured": not_measured_lines(context.environment),
        "repeat": list(_repeat(context)),
    }


def environment_lines(environment: Mapping[str, Any]) -> list[str]:
    """Servers, sizes, host, and the rest."""
    lines = []
    servers = environment.get("servers")
    for name, server in servers.items() if isinstance(servers, Mapping) else ():
        version = server.get("version") if isinstance(server, Mapping) else server
        lines.append(tr("Server of {name}: {version}", name=name, version=version))
    found = [one for one in environment_lists(environment) if one.title not in _ELSEWHERE]
    for one in sorted(found, key=lambda one: _FIRST.index(one.title) if one.title in _FIRST else 9):
        lines += pair_lines(one.title, ((name, shown_of(name, value)) for name, value in one.rows))
    return lines


def setting_lines(environment: Mapping[str, Any], besides: Collection[str] = ()) -> list[str]:
    """Settings that are not the default, then defaults that matter in most runs."""
    own = {
        name: value
        for one in environment_lists(environment)
        if one.title == _SETTINGS
        for name, value in one.rows
        if name not in besides
    }
    server = environment.get("server")
    every = server.get("every_setting") if isinstance(server, Mapping) else None
    every = every if isinstance(every, Mapping) else {}
    known = {*own, *besides}
    keys = [name for name in texts()["key_settings"] if name in every and name not in known]
    defaults = {name: setting_text(str(dict(every[name]).get("value"))) for name in keys}
    return [
        line
        for title, found in ((tr("Server"), own), (tr("Defaults"), defaults))
        if found
        for line in pair_lines(title, ((name, shown_of(name, v)) for name, v in found.items()))
    ]


def not_measured_lines(environment: Mapping[str, Any]) -> list[str]:
    """What could not be had, and why."""
    return [f"- {name}{colon()}{why}" for name, why in not_measured(environment)]


def _design(context: ReportContext) -> Iterator[str]:
    plan = context.plan
    yield pair_line(headline.design_facts(context))
    for factor in plan.factors:
        yield tr(
            "Factor {factor} ({kind}): {list}; baseline first",
            factor=factor.name,
            kind=factor.kind,
            list=listed(factor.levels),
        )
    if len(plan.factors) > 1:
        yield tr(
            "Arms: {combinations}. Randomisation: {plots}.",
            combinations=combinations_line(plan),
            plots=plots_line(plan),
        )
    yield from (tr("Mode: {line}", line=line) for line in mode_in_force(plan))
    steps = (
        tr(
            "{clients} clients{rate} for {duration} s{warmup}",
            clients=step.clients,
            rate="" if step.rate is None else tr(" at {rate} tps", rate=decimals(step.rate, "g")),
            duration=decimals(step.duration_s, "g"),
            warmup="" if step.measured else tr(" (warm-up)"),
        )
        for step in plan.steps
    )
    if len(plan.step_levels()) > 1:
        yield tr("A trial: {steps}; {order}", steps=listed(steps), order=_ORDERS[plan.order])
    else:
        yield tr("A trial: {steps}", steps=listed(steps))
    if plan.factors:
        last = min(plan.max_blocks, _MOST_BLOCKS)
        yield tr(
            "Order of arms in blocks 1 to {number} (seed {seed}): {list}",
            number=last,
            seed=plan.seed,
            list=" / ".join(order_of(plan, block) for block in range(1, last + 1)),
        )
    for trial in context.analysis.invalid_trials:
        yield tr(
            "Trial {number} does not count: {list}",
            number=trial.number,
            list=clauses(trial.invalid),
        )


_ORDERS = {
    "ordered": Message("steps in this order in every trial"),
    "shuffled": Message("steps in an order drawn for each block"),
}


def _workload(context: ReportContext) -> Iterator[str]:
    """The scenarios with what they made up, then their SQL, once where arms run the same."""
    done: dict[str, int] = {}
    for trial in context.analysis.trials:
        for one in trial.scenarios:
            done[one.scenario] = done.get(one.scenario, 0) + one.transactions
    every = sum(done.values())
    if every:
        shares = (
            f"{name} {decimals(100 * count / every, '.1f')} %" for name, count in done.items()
        )
        yield tr("Scenarios by transactions of all trials: {list}", list=listed(shares))
    seen: dict[tuple[str, str], list[str]] = {}
    for arm in context.analysis.asked:
        for name, script in arm.scripts.items():
            seen.setdefault((name, script), []).append(arm.arm)
    for (name, script), arms in seen.items():
        of = "" if len(arms) == len(context.analysis.asked) else tr(" of {list}", list=listed(arms))
        lines = (line.strip() for line in script.splitlines())
        yield f"{name}{of}{colon()}{' '.join(line for line in lines if line and line[:2] != '--')}"


def _settings(context: ReportContext) -> Iterator[str]:
    """What arms differ in, then what is the same in all of them."""
    asked = {one.arm: one.settings for one in context.analysis.asked}
    of_arm = {
        arm.id: {**asked.get(arm.id, {}), **arm.settings, **arm.session_settings, **arm.knobs}
        for arm in context.plan.arms
    }
    first = next(iter(of_arm.values()), {})
    same = {k: v for k, v in first.items() if all(own.get(k) == v for own in of_arm.values())}
    for arm, every in of_arm.items():
        own = {name: value for name, value in every.items() if name not in same}
        if own:
            yield f"{arm}{colon()}{pair_line((name, shown_of(name, v)) for name, v in own.items())}"
    if same:
        yield from pair_lines(
            tr("The experiment"), ((name, shown_of(name, v)) for name, v in same.items())
        )
    asked_for = {name for own in of_arm.values() for name in own}
    yield from setting_lines(context.environment, asked_for)


def _repeat(context: ReportContext) -> Iterator[str]:
    yield context.command
    yield tr("Experiment file:")
    yield from (line for line in context.spec_text.strip().splitlines() if line.strip())
