"""Numbers and verdicts as a DBA would quote them.

Enters: comparisons. Leaves: short texts. Never: decides anything.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Protocol

from pgassay.analysis.estimate import FEW_BLOCKS
from pgassay.analysis.metrics import METRICS, Metric
from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.analysis.standstills import standing

TEXTS = tomllib.loads((files(__package__) / "texts.toml").read_text("utf-8"))


class Estimated(Protocol):
    """What a comparison and every other estimate have in common."""

    @property
    def blocks(self) -> int: ...
    @property
    def rounds(self) -> int | None: ...
    @property
    def ci95_pct(self) -> tuple[float, float] | None: ...
    @property
    def blocks_to_decide(self) -> int | None: ...


def verdict_sentence(comparison: Comparison, analysis: Analysis) -> str:
    """One sentence that answers the question."""
    metric = METRICS[comparison.metric]
    family, form = _template(comparison, metric)
    effect = comparison.effect_pct or 0.0
    sentence: str = TEXTS[family][form].format(
        subject=f"{comparison.factor} = {comparison.level}",
        baseline=comparison.baseline,
        metric=metric.title.lower(),
        size=f"{abs(effect):.1f} %",
        signed=signed_percent(effect),
        interval=interval_text(comparison),
        margin=f"{100 * analysis.smallest_effect:g} %",
        more=more_blocks(comparison.blocks_to_decide),
        standing=_standing(comparison, analysis),
    )
    if comparison.step is not None:
        return f"At {comparison.load}: {sentence}"
    return sentence


def unanswered(analysis: Analysis) -> list[str]:
    """A sentence for each level without a figure over whole trials, since an arm stood still."""
    known = {(c.factor, c.level) for c in analysis.verdicts() if c.step is None}
    stood = [one for one in analysis.standstills if one.step is None]
    levels = dict.fromkeys(level for one in stood for level in one.takes if level not in known)
    never: str = TEXTS["withdrawn"]["never"]
    return [
        never.format(
            subject=f"{factor} = {level}",
            standing=" and ".join(
                standing(one, "") for one in stood if (factor, level) in one.takes
            ),
        )
        for factor, level in levels
    ]


def _standing(comparison: Comparison, analysis: Analysis) -> str:
    return " and ".join(
        standing(one, comparison.step_unit)
        for one in analysis.standstills
        if one.step == comparison.step and (comparison.factor, comparison.level) in one.takes
    )


def interval_text(estimate: Estimated) -> str:
    """Such as `95 % CI 1.8 to 4.4 %, 11 blocks`."""
    blocks = f"{estimate.blocks} block{'s' if estimate.blocks != 1 else ''}"
    if estimate.rounds is not None:
        blocks = f"{estimate.rounds} rounds of slices in {blocks}"
    if estimate.ci95_pct is None:
        return f"no interval yet, {blocks}"
    low, high = estimate.ci95_pct
    return f"95 % CI {_one(low)} to {_one(high)} %, {blocks}"


def signed_percent(value: float | None) -> str:
    """Such as `+3.1 %`, with a true minus sign."""
    return "n/a" if value is None else f"{'+' if value > 0 else ''}{_one(value)} %"


def quantity(value: float, metric: Metric) -> str:
    """A value with its unit, such as `8 015 tps` or `12.3 kB`."""
    if metric.unit == "B":
        return _bytes(value)
    unit = f" {metric.unit}" if metric.unit else ""
    number = f"{value:,.{metric.digits}f}".replace(",", "\u202f").replace("-", "\u2212")
    return f"{number}{unit}"


def plain_number(value: float) -> str:
    """To the digits that a reader can use: `3.4`, `12`, `1 200`."""
    digits = 1 if abs(value) < 10 else 0
    return f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "\u2212")


def count(value: float) -> str:
    """A number of things, to three digits that count."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}".replace(",", "\u202f").replace("-", "\u2212")


def _template(comparison: Comparison, metric: Metric) -> tuple[str, str]:
    form = "tps" if metric.name == "tps" else "latency"
    match comparison.verdict:
        case Verdict.BETTER:
            return "faster", form
        case Verdict.WORSE:
            return "slower", form
        case Verdict.UNDECIDED if comparison.withdrawn is not None:
            return "withdrawn", comparison.withdrawn.value
        case Verdict.UNDECIDED:
            return "undecided", outlook(comparison)
        case other:
            return other.value, "any"


def outlook(estimate: Estimated) -> str:
    """Which sentence says how many more blocks it takes."""
    if estimate.blocks < FEW_BLOCKS:
        return "few"
    return "unknown" if estimate.blocks_to_decide is None else "more"


def _one(value: float) -> str:
    digits = 1 if abs(value) < 1000 else 0
    return f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "\u2212")


def more_blocks(count: int | None) -> str:
    """Such as `one more block`."""
    return "one more block" if count == 1 else f"{count} more blocks"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"
