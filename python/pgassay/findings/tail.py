"""What a verdict's sentence says of the tail of latency, which a mean rate hides.

Enters: a verdict, the comparisons beside it. Leaves: the second half of its sentence, or nothing.
Never: changes a verdict, or claims what its own interval does not hold.

A difference is told where it stands with all other metrics looked at (Benjamini and Yekutieli);
"equivalent" where the 95 % interval lies inside the margin on both sides, which is stricter than
the two one-sided tests at 5 % (Lakens 2017): two endpoints share the error.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.findings.wording import TEXTS, interval_text

_RULES = tomllib.loads((files(__package__) / "rules.toml").read_text("utf-8"))["tail"]


def with_tail(sentence: str, verdict: Comparison, analysis: Analysis) -> str:
    """The sentence of a verdict over whole trials, and what the tail did meanwhile."""
    tail = _tail_of(verdict, analysis)
    if tail is None or tail.ci95_pct is None or verdict.verdict is Verdict.CALIBRATION:
        return sentence
    low, high = tail.ci95_pct
    margin_pct = 100.0 * max(_RULES["margin"], analysis.smallest_effect)
    if tail.verdict in (Verdict.BETTER, Verdict.WORSE):
        form = "lower" if (tail.effect_pct or 0.0) < 0.0 else "higher"
    elif -margin_pct < low and high < margin_pct:
        form = "equivalent"
    else:
        form = "undecided" if low <= 0.0 <= high else "perhaps_chance"
    text: str = TEXTS["tail"][form].format(
        size=f"{abs(tail.effect_pct or 0.0):.1f} %",
        interval=interval_text(tail).split(",", 1)[0],
        margin=f"{margin_pct:g} %",
    )
    return f"{sentence.removesuffix('.')}; {text}."


def _tail_of(verdict: Comparison, analysis: Analysis) -> Comparison | None:
    """The 99th percentile over the same trials, from when a transaction was due where that is
    known; None where the verdict is about a percentile itself, or was withdrawn."""
    if verdict.step is not None or verdict.withdrawn or verdict.metric in _RULES["metrics"]:
        return None
    beside = {
        c.metric: c
        for c in analysis.comparisons
        if (c.factor, c.level, c.step) == (verdict.factor, verdict.level, None)
    }
    return next((beside[name] for name in _RULES["metrics"] if name in beside), None)
