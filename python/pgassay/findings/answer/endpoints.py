"""The endpoints beside a verdict: what its sentence says of them, and its badge.

Enters: a verdict and its Analysis. Leaves: clauses, and a badge of a few words. Never: decides or
changes a verdict.

A badge is never plain where an endpoint contradicts the verdict (faster, but the tail is worse),
where the verdict does not hold in each half of trials, where the better level lost trials, or where
so few blocks decided that the verdict rests on normality: below six no sign-flip p reaches 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.limits import lost_words, on_average
from pgassay.findings.wording import aside, bare_interval, percent, texts_of
from pgassay.notes import Note, Term
from pgassay.plan.model import Endpoint, Plan
from pgassay.quantities import is_multiple
from pgassay.spec.endpoints import scenario_of

if TYPE_CHECKING:  # `plan` needs none of it
    from pgassay.analysis.model import Analysis
    from pgassay.analysis.noise.endpoint_outlooks import EndpointOutlook

_TEXTS = texts_of(__name__)
_RULE = "findings/answer/endpoints"
MEASURED = Note(f"{_RULE}/badges.measured")
"""The badge of an arm that is compared with none."""
_NINE_OF_TEN = 1.28
"""Standard errors above the bound at which nine of ten runs find an effect."""
_DECIDED = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)


def badge(verdict: Comparison, analysis: Analysis) -> Note:
    """Return a verdict in a few words: `better`, `better, p99 worse`, `better if normal`."""
    said = on_average(verdict, analysis, verdict_words(verdict))
    contrary = [
        Note.of(
            f"{_RULE}/badges.contrary",
            metric=_short(one.metric),
            verdict=Term(one.verdict.value),
        )
        for one, _ in analysis.answer.beside(verdict)
        if contradicts(one, verdict)
    ]
    more = (*contrary, *lost_words(verdict, analysis))
    return Note.of(f"{_RULE}/badges.but", parts=(said, *more)) if more else said


def plain_badge(verdict: StrEnum) -> Note:
    """The badge of a verdict that nothing weakens: its own word."""
    return Note.of(f"{_RULE}/badges.plain", verdict=Term(verdict.value))


def verdict_words(verdict: Comparison) -> Note:
    """A verdict as a table shows it and a badge begins: `better`, `better if normal`."""
    plain = plain_badge(verdict.verdict)
    if not rests_on_normality(verdict):
        return plain
    return Note.of(f"{_RULE}/few.badge", verdict=plain)


def contradicts(endpoint: Comparison, verdict: Comparison) -> bool:
    """Whether the endpoint is worse where the verdict is not, or better where it is worse."""
    if verdict.verdict is Verdict.WORSE:
        return endpoint.verdict is Verdict.BETTER
    return endpoint.verdict is Verdict.WORSE and verdict.verdict is not Verdict.CALIBRATION


def rests_on_normality(verdict: Comparison) -> bool:
    """Whether too few blocks decided; the order of rounds in a switchback was drawn many times."""
    few = verdict.blocks < _TEXTS["few"]["blocks"] and verdict.rounds is None
    return few and verdict.verdict in _DECIDED


def few_blocks(verdict: Comparison) -> Note | None:
    """A sentence on what a verdict of so few blocks rests on."""
    if not rests_on_normality(verdict):
        return None
    return Note.of(f"{_RULE}/few.sentence", blocks=verdict.blocks)


def endpoints_beside(verdict: Comparison, analysis: Analysis) -> Note | str:
    """What holds of every endpoint, for the end of the sentence of a verdict over whole trials."""
    if verdict.step is not None or verdict.withdrawn or verdict.verdict is Verdict.CALIBRATION:
        return ""
    found = sorted(
        (pair for pair in analysis.answer.beside(verdict) if pair[0].ci95 or _is_zero(pair[0])),
        key=lambda pair: not contradicts(pair[0], verdict),
    )
    said = tuple(_clause(one, endpoint) for one, endpoint in found)
    if not said:
        return ""
    if contradicts(found[0][0], verdict):
        return Note.of("findings/answer/endpoints-but", clauses=said)
    return Note.of("findings/answer/endpoints-too", clauses=("", *said))


def endpoint_sentence(one: Comparison, endpoint: Endpoint) -> Note:
    """Return the sentence of an endpoint's verdict.

    Example: `P99 latency is 62.7 % lower (95 % CI −65.5 to −59.7 %).`
    """
    return Note.of("findings/sentence", clause=_clause(one, endpoint))


def endpoint_title(metric: str) -> str:
    """Return an endpoint's name in tables, such as `p99 latency`, else its metric's title."""
    name: str | None = _TEXTS["titles"].get(metric)
    return name or METRICS[metric].title


def _short(metric: str) -> str:
    """A metric in a badge; that of a scenario or statement is its own name."""
    named: str | None = _TEXTS["short"].get(metric)
    return metric if named is None else Term(named)


def _named(metric: str) -> Note | str:
    """A metric in a sentence; that of a scenario or statement in words."""
    if metric in _TEXTS["names"]:
        return Term(_TEXTS["names"][metric])
    part, measure = scenario_of(metric) or ("", "")
    return Note.of(f"{_RULE}/parts.{measure}", part=part) if part else metric


def price(plan: Plan) -> Note | None:
    """What the endpoints of a plan cost each other in power; None where there are none."""
    if not plan.endpoints or not plan.factors:
        return None
    named = tuple(
        Note.of(f"{_RULE}/price.name", value=_named(one.metric), margin=_margin(one))
        for one in plan.endpoints
    )
    count, rule, blocks = len(plan.endpoints), rule_of(plan), plan.last_block
    if count == 1:
        return Note.of(f"{_RULE}/price.one", named=named)
    together = rule.of_endpoint(plan.endpoints[0], of=count)
    needed = [each.critical(blocks, blocks, 0.05) + _NINE_OF_TEN for each in (together, rule)]
    return Note.of(f"{_RULE}/price.several", named=named, times=needed[0] / needed[1])


def foreseen(outlooks: Sequence[EndpointOutlook], plan: Plan) -> list[Note]:
    """Return a sentence on each endpoint whose noise is known here, and one on all others."""
    found = [_finds(one, plan) for one in outlooks if one.trial_sd is not None]
    others = tuple(_named(one.endpoint.metric) for one in outlooks if one.trial_sd is None)
    if others and not plan.alternates:
        found.append(Note.of(f"{_RULE}/foreseen.unknown", names=others))
    return found


def _finds(one: EndpointOutlook, plan: Plan) -> Note:
    is_shared = len(plan.endpoints) > 1 and one.alone is not None
    form = "none" if one.detectable is None else "several" if is_shared else "one"
    return Note.of(
        f"{_RULE}/foreseen.{form}",
        name=_named(one.endpoint.metric),
        noise=100.0 * (one.trial_sd or 0.0),
        blocks=plan.last_block,
        detectable=100.0 * (one.detectable or 0.0),
        alone=100.0 * (one.alone or 0.0),
    )


def _margin(endpoint: Endpoint) -> Note:
    margin = 100 * endpoint.margin
    if endpoint.metric == "failed_share":
        code = "findings/margin-point" if margin == 1 else "findings/margin-points"
        return Note.of(code, value=margin)
    return Note.of("findings/margin", pct=margin)


def _clause(one: Comparison, endpoint: Endpoint) -> Note:
    way = "lower" if one.difference < 0.0 else "higher"
    form = {Verdict.BETTER: way, Verdict.WORSE: way}.get(one.verdict, one.verdict.value)
    if _is_zero(one) and one.metric == "failed_share":
        form = "none"
    in_points = one.effect_pct is None or one.metric == "failed_share"
    effect = one.effect_pct or 0.0
    if form == "higher" and is_multiple(one.effect_pct) and not in_points:
        form = "higher-multiple"
    interval = bare_interval(
        one, endpoint.margin, in_points=in_points, unsigned=form in ("lower", "higher")
    )
    return Note.of(
        f"{_RULE}/clauses.{form}",
        name=_named(one.metric),
        effect=effect,
        size=Note.of("findings/points", value=abs(one.difference))
        if in_points
        else Note.of("findings/size", pct=abs(effect)),
        signed=Note.of("findings/signed-points", value=one.difference)
        if in_points
        else percent(effect),
        margin=_margin(endpoint),
        interval=interval if form == "calibration" else aside(interval),
    )


def _is_zero(one: Comparison) -> bool:
    return one.baseline_mean == 0.0 and one.level_mean == 0.0
