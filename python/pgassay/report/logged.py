"""The table of what the server's log tells of each arm.

Enters: the context. Leaves: rows of strings. Never: shows an arm whose log was not read as quiet.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from pgassay.report.context import ReportContext
from pgassay.report.tables import ABSENT


def logged_rows(context: ReportContext) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(what, how often a trial of each arm on average), in the order of logged.toml."""
    arms = [arm.id for arm in context.analysis.arms]
    read = {
        arm: [t.logged for t in context.series if t.arm == arm and t.logged is not None]
        for arm in arms
    }
    kinds = sorted({kind for trials in read.values() for trial in trials for kind in trial})
    rows = []
    for listed, words in logged_words().items():
        for kind in kinds:
            if kind == listed or (listed.endswith(" ") and kind.startswith(listed)):
                cells = tuple(_mean([trial.get(kind, 0) for trial in read[arm]]) for arm in arms)
                rows.append((words.format(kind.removeprefix(listed)), cells))
    return tuple(rows)


def _mean(counts: list[int]) -> str:
    if not counts:
        return ABSENT
    mean = sum(counts) / len(counts)
    return f"{mean:.1f}".removesuffix(".0") if mean < 100 else f"{mean:.0f}"


@cache
def logged_words() -> dict[str, str]:
    """Kind of event → what it is called; {} stands for its cause or SQLSTATE."""
    text = (files("pgassay.report") / "logged.toml").read_text("utf-8")
    words: dict[str, str] = tomllib.loads(text)
    return words
