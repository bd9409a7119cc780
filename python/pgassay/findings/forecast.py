"""What a design can find and how long it takes, in sentences.

Enters: an Outlook of an A/A run or of prior runs. Leaves: sentences. Never: estimates.
"""

from __future__ import annotations

from pgassay.analysis.noise.model import Expected, Outlook
from pgassay.analysis.noise.prior_runs import Expectation
from pgassay.findings.wording import texts_of
from pgassay.plan.model import Plan

_TEXTS = texts_of("forecast")


def title_of(part: str) -> str:
    """The title of a finding with this sentence."""
    return str(_TEXTS[part]["title"])


def detectable_sentence(outlook: Outlook, least: int, most: int, form: str = "own") -> str:
    """The least effect that is found in nine of ten runs; `form` says of which design."""
    texts = _TEXTS["detectable"]
    design = str(texts[form]).format(blocks=blocks_words(least, most))
    if outlook.detectable is None:
        return str(texts["none"]).format(design=design)
    return str(texts["text"]).format(design=design, detectable=percent(outlook.detectable))


def expected_sentence(outlook: Outlook, most_blocks: int, block_s: float) -> str:
    """How many blocks, and how long, with the smallest effect and without any."""
    texts = _TEXTS["expected"]
    several = str(texts["several"]).format(verdicts=outlook.verdicts)
    return str(texts["text"]).format(
        several=several if outlook.verdicts > 1 else "",
        margin=percent(outlook.if_different.effect),
        different=_decided(outlook.if_different, most_blocks, block_s),
        same=_decided(outlook.if_same, most_blocks, block_s),
    )


def expectation_lines(found: Expectation | None, plan: Plan) -> list[tuple[str, str]]:
    """(label, sentence): what a plan can expect; nothing without a comparison."""
    if found is None:
        return [("expect", str(_TEXTS["before"]["duet"]))] if plan.side_by_side else []
    form = found.known_from.replace(" ", "_")
    if form == "this_load" and found.runs == 1:
        form = "one_run"
    noise = " to ".join(percent(case.trial_sd) for case in found.cases)
    what = str(_TEXTS["before"]["differences" if plan.alternates else "trials"])
    lines = [("noise", str(_TEXTS["before"][form]).format(what=what, noise=noise, runs=found.runs))]
    least, most = plan.min_blocks, plan.last_block
    for case in found.cases:
        at = f"At {percent(case.trial_sd)} %: " if len(found.cases) > 1 else ""
        finds = detectable_sentence(case.outlook, least, most)
        expected = expected_sentence(case.outlook, most, found.block_s)
        for label, text in (("finds", finds), ("expect", expected)):
            lines.append((label, f"{at}{text[0].lower()}{text[1:]}" if at else text))
    return lines


def duration(seconds: float) -> str:
    """Such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def blocks_words(least: int, most: int) -> str:
    """Such as `6 to 24 blocks`."""
    return f"{least} blocks" if least == most else f"{least} to {most} blocks"


def percent(share: float) -> str:
    """A share in per cent, to two digits."""
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _decided(expected: Expected, most: int, block_s: float) -> str:
    texts = _TEXTS["expected"]
    share = f"{100 * expected.decided:.0f}"
    if expected.blocks is None:
        return str(texts["open"]).format(share=share, most=most)
    time = duration(expected.blocks * block_s)
    return str(texts["decided"]).format(blocks=expected.blocks, time=time, share=share, most=most)
