"""What a design can find and how long it takes, in sentences.

Enters: an Outlook of an A/A run or of prior runs. Leaves: sentences. Never: estimates.
"""

from __future__ import annotations

from pgassay.analysis.gates.forecast import GateForecast, GateOutlook
from pgassay.analysis.noise.best_plan import BestPlan
from pgassay.analysis.noise.model import Expected, Outlook
from pgassay.analysis.noise.prior_runs import Expectation
from pgassay.findings.wording import texts_of
from pgassay.language import decimals, tr
from pgassay.plan.model import Plan
from pgassay.quantities import signed_bound

_TEXTS = texts_of(__name__)


def title_of(part: str) -> str:
    """The title of a finding with this sentence."""
    return str(_TEXTS[part]["title"])


def detectable_sentence(outlook: Outlook, least: int, most: int, form: str = "own") -> str:
    """The least effect that is found in nine of ten runs; `form` says of which design."""
    texts, found = _TEXTS["detectable"], outlook.detectable
    design = str(texts[form]).format(blocks=blocks_words(least, most))
    if found is None or found > texts["most"]:
        return str(texts["none"]).format(design=design, most=percent(texts["most"]))
    return str(texts["text"]).format(design=design, detectable=percent(found))


def expected_sentence(outlook: Outlook, most_blocks: int, block_s: float) -> str:
    """How many blocks, and how long, with the smallest effect and without any."""
    texts = _TEXTS["expected"]
    different = _decided(outlook.if_different, most_blocks, block_s)
    margin = percent(outlook.if_different.effect)
    sentences = [
        str(texts["different"]).format(margin=margin, when=different),
        str(texts["same"]).format(when=_decided(outlook.if_same, most_blocks, block_s)),
    ]
    if outlook.verdicts > 1:
        sentences.append(str(texts["several"]).format(verdicts=outlook.verdicts))
    return " ".join(sentences)


def expectation_lines(found: Expectation | None, plan: Plan) -> list[tuple[str, str]]:
    """(label, sentence): what a plan can expect; nothing without a comparison."""
    texts = _TEXTS["before"]
    if found is None:
        response = plan.factors and plan.metric.startswith("response")
        form = "duet" if plan.side_by_side else "response" if response else ""
        return [("expect", str(texts[form]))] if form else []
    form = found.known_from.replace(" ", "_")
    if form == "this_load" and found.runs == 1:
        form = "one_run"
    noise = tr(" to ").join(percent(case.trial_sd) for case in found.cases)
    what = str(texts["differences" if plan.alternates else "trials"]).format(noise=noise)
    lines = [("noise", str(texts[form]).format(what=what, runs=found.runs))]
    for case in found.cases:
        finds = detectable_sentence(case.outlook, plan.min_blocks, plan.last_block)
        expected = expected_sentence(case.outlook, plan.last_block, found.block_s)
        for label, sentence in (("finds", finds), ("expect", expected)):
            if len(found.cases) > 1:
                noise = percent(case.trial_sd)
                sentence = str(texts["case"]).format(noise=noise, sentence=sentence)
            lines.append((label, sentence))
    if found.planned is not None:
        lines.append((tr("best plan"), best_plan_sentence(found.planned)))
    return lines


def gate_sentences(outlook: GateOutlook) -> list[str]:
    """What a gate can see at all, for each scatter; or why that is not foreseen."""
    texts, gate = _TEXTS["gates"], outlook.gate.text
    if outlook.unknown:
        return [str(texts[outlook.unknown]).format(gate=gate)]
    found = []
    for one in outlook.forecasts:
        change = one.caught_pct
        words = "" if change is None else signed_bound(round(change, 1), 0.0)
        text = str(texts["none" if change is None else "caught"])
        sentence = text.format(gate=gate, noise=percent(one.trial_sd), change=words)
        if outlook.comparisons > 1:
            sentence += " " + str(texts["several"]).format(comparisons=outlook.comparisons)
        found.append(sentence)
    return found


def gate_columns() -> list[str]:
    """The titles of `gate_rows`."""
    return [str(title) for title in _TEXTS["gates"]["columns"]]


def gate_rows(forecast: GateForecast) -> list[list[str]]:
    """Each true change with how often the gate fails, holds, stays undecided, after how long."""
    rows = []
    for one in forecast.cases:
        change = signed_bound(one.change_pct, 0.0) if one.change_pct else _TEXTS["gates"]["same"]
        shares = (one.failed, one.holds, one.undecided)
        cells = [f"{decimals(100 * share, '.0f')} %" for share in shares]
        rows.append([str(change), *cells, decimals(one.blocks, ".1f")])
    return rows


def best_plan_sentence(planned: BestPlan) -> str:
    """The time to decide as written, and the quicker design where there is one."""
    texts, written, best = _TEXTS["best_plan"], planned.written, planned.best
    late = written.blocks is None
    form = "late" if late else "written"
    now = str(texts[form]).format(most=written.max_blocks, time=duration(written.total_s))
    unknown = "" if planned.lengths_known else str(texts["unknown"])
    if best is None:
        which = "late_alone" if late else "unknown_alone" if unknown else "none"
        return str(texts[which]).format(now=now) + unknown
    sentence = str(texts["text"]).format(
        step=f"{decimals(best.step_s, 'g')}s",
        warmup=f"{decimals(best.warmup_s, 'g')}s",
        blocks=blocks_words(best.min_blocks, best.max_blocks),
        time=duration(best.total_s),
        needed=best.blocks,
        now=now,
    )
    return sentence + unknown


def duration(seconds: float) -> str:
    """Such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return tr("{value} s", value=decimals(seconds, ".3g"))
    minutes = round(seconds / 60)
    return (
        tr("{value} min", value=minutes)
        if minutes < 90
        else tr("{hours} h {minutes} min", hours=minutes // 60, minutes=f"{minutes % 60:02d}")
    )


def blocks_words(least: int, most: int) -> str:
    """Such as `6 to 24 blocks`."""
    return (
        tr("{least} blocks", least=least)
        if least == most
        else tr("{least} to {most} blocks", least=least, most=most)
    )


def percent(share: float) -> str:
    """A share in per cent, to two digits."""
    return decimals(100 * share, ".2g") if share < 0.1 else decimals(100 * share, ".0f")


def _decided(expected: Expected, most: int, block_s: float) -> str:
    """When half of the runs have a verdict, and how many have one at the end."""
    half, texts = expected.blocks, _TEXTS["expected"]
    form = "open" if half is None else "at_the_end" if half == most else "decided"
    return str(texts[form]).format(
        blocks=half,
        most=most,
        time=duration((half or most) * block_s),
        share=_share_words(expected.decided, few=half is None),
    )


def _share_words(share: float, *, few: bool) -> str:
    """Such as `40 % of runs`; the simulation does not show that all of them are, or none."""
    texts, number = _TEXTS["expected"], decimals(100 * share, ".0f")
    form = {"100": "all", "0": "none"}.get(number, "few" if few else "some")
    return str(texts[form]).format(percent=number)
