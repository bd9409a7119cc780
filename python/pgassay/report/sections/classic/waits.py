"""The waits of the classic view: weights, Pareto lists, the events that one arm alone has.

Enters: the classic view. Leaves: tables. Never: computes a figure.
"""

from __future__ import annotations

from dataclasses import replace

from pgassay.analysis.classic.model import OnlyInOneArm
from pgassay.language import comma, decimals, tr
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.sections.classic.cells import Shown, labelled
from pgassay.report.tables.cells import probability, written

_SHARES = (
    written("kind", "Wait type", str, "heading", merges=True),
    written("arm", "Arm", str, "line"),
    column("name", "Name", lambda row: Cell(row["text"], "code"), "text"),
    written("sessions", "Sessions", lambda sessions: decimals(sessions, ".3f")),
    written("share_pct", "Share", lambda share: f"{decimals(share, '.1f')} %"),
    written("cumulative_pct", "Cumulative", lambda share: f"{decimals(share, '.1f')} %"),
)


def weighted_table(shown: Shown) -> Table:
    """Makes a table of the weight of each wait type, with the share of the waits."""
    names = [one.wait_type for one in shown.view.arms[0].weighted]
    by_arm = [{one.wait_type: one for one in arm.weighted} for arm in shown.view.arms]
    rows = []
    for name in names:
        found = [own[name] for own in by_arm]
        if any(one.weight is None or one.share_pct for one in found):
            rows.append(
                (
                    name,
                    [
                        labelled(
                            # Never a negative zero.
                            None if one.weight is None else round(one.weight, 2) + 0.0,
                            "{:.2f}",
                            f"{one.label}{comma()}{decimals(one.share_pct or 0.0, '.0f')} %",
                        )
                        for one in found
                    ],
                )
            )
    return shown.side_by_side(tr("Wait type: weight, label, share of the waits"), rows)


def pareto_table(shown: Shown) -> Table:
    """Makes a table of the queries that make up most of each wait type, by arm."""
    kinds = sorted(
        {one.wait_type for arm in shown.view.arms for one in arm.pareto},
        key=lambda kind: (
            -max(
                one.sessions
                for arm in shown.view.arms
                for one in arm.pareto
                if one.wait_type == kind
            )
        ),
    )
    rows = [
        {
            **vars(each),
            "kind": kind,
            "arm": shown.short(arm.arm),
            "text": shown.statement(each.name),
        }
        for kind in kinds
        for arm in shown.view.arms
        for one in arm.pareto
        if one.wait_type == kind
        for each in one.queries
    ]
    return replace(view(_SHARES, rows, tr("Queries by wait type")), style="host")


def only_table(shown: Shown) -> Table:
    """Makes a table of the wait events that one arm alone has."""
    columns = (
        written("event", "Wait event", str, "heading"),
        written("arm", "Only in", shown.short, "line"),
        column("trials", "Trials with it", _how_many),
        column("p_adjusted", "BY\xa0p", lambda one: probability(one.p_adjusted)),
        column("clear", "By chance?", _chance, "text"),
    )
    return view(columns, shown.view.only_in_one)


def _how_many(one: OnlyInOneArm) -> str:
    return tr(
        "{trials} of {of_trials}, none of {other_trials}",
        trials=one.trials,
        of_trials=one.of_trials,
        other_trials=one.other_trials,
    )


def _chance(one: OnlyInOneArm) -> str:
    return tr("clearly not") if one.clear else tr("may be chance")
