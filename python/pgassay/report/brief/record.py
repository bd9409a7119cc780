"""How a run was designed, where it ran, and how to repeat it.

Enters: the context. Leaves: part → its blocks and lines.
Never: relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import Message, clauses, colon, decimals, listed, ntr, tr
from pgassay.plan.description import combinations_line, mode_in_force, order_of, plots_line
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.plain import Part
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Block, Code, Facts, Group, Heading
from pgassay.report.environment import environment_lists, not_measured
from pgassay.report.sections.record.workload import achieved, scripts
from pgassay.report.summaries import headline
from pgassay.samples.forms.environment import EnvironmentFile

_FIRST = ("server", "sizes", "host", "run")
_MOST_BLOCKS = 3
"""Whose order is shown; the seed draws all of them."""


def record_parts(context: ReportContext) -> dict[str, Part]:
    """Returns the blocks of what was run and measured, by the names that `parts.toml` lists."""
    return {
        "design": _design(context),
        "workload": _workload(context),
        "settings": _settings(context),
        "environment": environment_part(context.environment),
        "not_measured": [Facts(not_measured(context.environment), "sentences")],
        "repeat": [
            Code(context.command, "sh"),
            tr("Experiment file:"),
            Code(context.spec_text.strip(), "toml"),
        ],
    }


def environment_part(environment: EnvironmentFile) -> Part:
    """Servers, sizes, host, and the rest."""
    for name, server in environment.servers.items():
        yield tr("Server of {name}: {version}", name=name, version=server.version)
    found = {one.name: one for one in environment_lists(environment)}
    yield from (_titled(found[name].title, found[name].rows) for name in _FIRST if name in found)


def setting_blocks(environment: EnvironmentFile, besides: Collection[str] = ()) -> Iterator[Block]:
    """Settings that are not the default, then defaults that matter in most runs."""
    lists = {one.name: one.rows for one in environment_lists(environment)}
    own = [(name, value) for name, value in lists.get("settings", ()) if name not in besides]
    every = environment.server.every_setting
    known = {*dict(own), *besides}
    keys = [name for name in texts()["key_settings"] if name in every and name not in known]
    defaults = [(name, setting_text(str(every[name].value))) for name in keys]
    for title, found in ((tr("Server"), own), (tr("Defaults"), defaults)):
        if found:
            yield _titled(title, found)


def _titled(title: str, rows: Sequence[tuple[str, str]]) -> Group:
    return Group((Heading(title), Facts(rows)))


def _design(context: ReportContext) -> Part:
    plan = context.plan
    yield Facts(headline.design_facts(context))
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
        ntr(
            "{n} client{rate} for {duration} s{warmup}",
            "{n} clients{rate} for {duration} s{warmup}",
            step.clients,
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
    for trial in context.analysis.answer.invalid_trials:
        yield tr(
            "Trial {number} does not count: {list}",
            number=trial.number,
            list=clauses(trial.invalid),
        )


_ORDERS = {
    "ordered": Message("steps in this order in every trial"),
    "shuffled": Message("steps in an order drawn for each block"),
}


def _workload(context: ReportContext) -> Part:
    """The scenarios with their shares, then their SQL, once where arms run the same."""
    if shares := listed([" ".join(pair) for pair in achieved(context)]):
        yield colon().join((tr("Scenarios by their transactions"), shares))
    for title, script in scripts(context):
        lines = (line.strip() for line in script.splitlines())
        sql = " ".join(line for line in lines if line and line[:2] != "--")
        yield Code(f"{title}{colon()}{sql}", "sql")


def _settings(context: ReportContext) -> Iterator[Block]:
    """What arms differ in, then what is the same in all of them."""
    asked = {one.arm: one.settings for one in context.facts.asked}
    of_arm = {
        arm.id: {**asked.get(arm.id, {}), **arm.settings, **arm.session_settings, **arm.knobs}
        for arm in context.plan.arms
    }
    first = next(iter(of_arm.values()), {})
    same = {k: v for k, v in first.items() if all(own.get(k) == v for own in of_arm.values())}
    for arm, every in of_arm.items():
        own = [(name, value) for name, value in every.items() if name not in same]
        if own:
            yield _titled(arm, own)
    if same:
        yield _titled(tr("The experiment"), [*same.items()])
    asked_for = {name for own in of_arm.values() for name in own}
    yield from setting_blocks(context.environment, asked_for)
