"""The top of a comparison of runs made apart.

Enters: the context. Leaves: one `Answer` per side and arm, and (name, value) pairs.
Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Callable

from pgassay.analysis.apart.model import ConditionDifference
from pgassay.analysis.model import Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.apart.verdicts import (
    badge_of,
    forced,
    limit_of,
    sentence_of,
    spread_sentence,
)
from pgassay.language import comma, decimals, listed, tr
from pgassay.notes import Value
from pgassay.report.charts.style import TONES
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import Answer
from pgassay.spec.secrets.redaction import redacted


def answers(context: ApartContext) -> tuple[Answer, ...]:
    """Returns the verdicts over whole trials, after a warning where the comparison was forced."""
    warned = [Answer(tr("forced"), TONES[Verdict.WORSE], text) for text in forced(context.analysis)]
    found = []
    for one in context.analysis.verdicts():
        if one.comparison.step is None:
            badge = str(badge_of(one, forced=bool(warned)))
            tone = TONES[Verdict.UNDECIDED if warned else one.comparison.verdict]
            text = sentence_of(one, context.analysis)
            found.append(Answer(badge, tone, text, limit_of(one) or ""))
    nothing = tr("The runs share no figure of the primary metric, so there is no result.")
    return (*warned, *(found or [Answer(tr("no result"), TONES[Verdict.UNDECIDED], nothing)]))


def facts(context: ApartContext) -> tuple[tuple[str, str], ...]:
    """(name, value): what was judged, and by which spread."""
    analysis = context.analysis
    metric = METRICS[analysis.metric]
    direction = {"higher": tr("higher is better"), "lower": tr("lower is better")}.get(metric.good)
    found = [
        (tr("Primary metric"), comma().join(map(str, filter(None, (metric.title, direction))))),
        (
            tr("Smallest effect that matters"),
            f"±\xa0{decimals(100 * analysis.smallest_effect, 'g')}\xa0%",
        ),
        (tr("Baseline"), context.analysis.sides[0].name),
        (tr("Randomised"), tr("no: the runs were made apart")),
        *((tr("Spread between runs"), words) for words in spreads(context)),
    ]
    return tuple(found)


def condition_values(one: ConditionDifference, number: Callable[[float], str]) -> tuple[str, ...]:
    """Writes what each side has of a condition; `number` writes a number of bytes."""

    def shown(value: Value | None) -> str:
        match value:
            case None:
                return tr("not known")
            case float() | int() if one.unit == "bytes":
                return tr("{size} bytes", size=number(value))
            case float() | int() if one.unit == "s":
                return tr("{value} s", value=decimals(value, "g"))
            case float():
                return decimals(value)
            case tuple():
                return redacted(listed(value)) or tr("(none)")
            case _:
                return redacted(str(value)) or tr("(empty)")

    return tuple(listed(dict.fromkeys(map(shown, side))) for side in one.values)


def spreads(context: ApartContext) -> tuple[str, ...]:
    """How much runs of the same thing differ, once for each way in which that is known."""
    found = (spread_sentence(one) for one in context.analysis.verdicts())
    return tuple(map(str, dict.fromkeys(note for note in found if note)))
