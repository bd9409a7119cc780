"""What a design can find and how long it takes.

Enters: an Outlook of an A/A run or of prior runs. Leaves: notes. Never: estimates.
"""

from __future__ import annotations

from typing import TypeGuard

from pgassay.analysis.gates.forecast import GateForecast, GateOutlook
from pgassay.analysis.noise.best_plan import BestPlan
from pgassay.analysis.noise.model import Expected, Outlook
from pgassay.analysis.noise.prior_runs import Expectation
from pgassay.findings.wording import as_sentences, change, texts_of
from pgassay.language import decimals
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.quantities import is_multiple

_RULE = "findings/noise/forecast"
_TEXTS = texts_of(__name__)
_OF_ONE = {"this_load": "one_run", "other_loads": "one_of_another_load"}


def detectable_sentence(outlook: Outlook, least: int, most: int, form: str = "own") -> Note:
    """The least effect that is found in nine of ten runs; `form` says of which design."""
    found, realistic = outlook.detectable, _TEXTS["detectable"]["most"]
    design = Note.of(f"{_RULE}/detectable.{form}", blocks=blocks_of(least, most))
    if found is None or found > realistic:
        return Note.of(f"{_RULE}/detectable.none", design=design, most=100.0 * realistic)
    return Note.of(f"{_RULE}/detectable.text", design=design, detectable=100.0 * found)


def expected_sentence(
    outlook: Outlook, most_blocks: int, block_s: float, outside_s: float = 0.0
) -> Note:
    """How many blocks, and how long, with the smallest effect and without any; `outside_s` is of
    the run outside its trials."""
    margin, verdicts = 100.0 * outlook.if_different.effect, outlook.verdicts
    different, same = (
        _decided(case, most_blocks, block_s, outside_s)
        for case in (outlook.if_different, outlook.if_same)
    )
    return as_sentences(
        Note.of(f"{_RULE}/expected.different", margin=margin, when=different),
        Note.of(f"{_RULE}/expected.same", when=same),
        Note.of(f"{_RULE}/expected.several", verdicts=verdicts) if verdicts > 1 else None,
    )


def found_here(found: Expectation | None) -> Note | None:
    """The least effect that is found in nine of ten runs, in a few words, and whether other loads
    say so; None where no prior run on this host says how large that is."""
    if not is_of_this_host(found):
        return None
    least = found.cases[0].outlook.detectable
    if least is None:
        return Note(f"{_RULE}/detectable.brief_none")
    form = "brief_large" if is_multiple(100.0 * least) else "brief"
    brief = Note.of(f"{_RULE}/detectable.{form}", detectable=100.0 * least)
    if found.known_from == "this load":
        return brief
    return Note.of(f"{_RULE}/detectable.brief_others", brief=brief)


def is_of_this_host(found: Expectation | None) -> TypeGuard[Expectation]:
    """Whether prior runs on this host say what is found, and not general figures."""
    return found is not None and found.known_from != "others"


def expectation_lines(found: Expectation | None, plan: Plan) -> list[tuple[str, Note]]:
    """(label, sentence): what a plan can expect; nothing without a comparison."""
    if found is None:
        response = plan.factors and plan.metric.startswith("response")
        form = "duet" if plan.side_by_side else "response" if response else ""
        return [("expect", Note(f"{_RULE}/before.{form}"))] if form else []
    form = found.known_from.replace(" ", "_")
    if found.runs == 1:
        form = _OF_ONE.get(form, form)
    noises = tuple(
        Note.of("findings/two-digits", value=100.0 * one.trial_sd) for one in found.cases
    )
    what = Note.of(
        f"{_RULE}/before.{'differences' if plan.alternates else 'trials'}",
        noise=noises[0]
        if len(noises) == 1
        else Note.of(f"{_RULE}/before.range", low=noises[0], high=noises[-1]),
    )
    lines = [("noise", Note.of(f"{_RULE}/before.{form}", what=what, runs=found.runs))]
    for case, noise in zip(found.cases, noises, strict=True):
        finds = detectable_sentence(case.outlook, plan.min_blocks, plan.last_block)
        outside_s = found.outside_s or 0.0
        expected = expected_sentence(case.outlook, plan.last_block, found.block_s, outside_s)
        for label, sentence in (("finds", finds), ("expect", expected)):
            if len(noises) > 1:
                sentence = Note.of(f"{_RULE}/before.case", noise=noise, sentence=sentence)
            lines.append((label, sentence))
    if found.planned is not None:
        lines.append(("best plan", best_plan_sentence(found.planned, found.outside_s or 0.0)))
    return lines


def gate_sentences(outlook: GateOutlook) -> list[Note]:
    """What a gate can see at all, for each scatter; or why that is not foreseen."""
    gate = outlook.gate.text
    if outlook.unknown:
        return [Note.of(f"{_RULE}/gates.{outlook.unknown}", gate=gate)]
    several = Note.of(f"{_RULE}/gates.several", comparisons=outlook.comparisons)
    return [
        as_sentences(
            Note.of(f"{_RULE}/gates.none", gate=gate, noise=100.0 * one.trial_sd)
            if one.caught_pct is None
            else Note.of(
                f"{_RULE}/gates.caught",
                gate=gate,
                noise=100.0 * one.trial_sd,
                change=change(round(one.caught_pct, 1)),
            ),
            several if outlook.comparisons > 1 else None,
        )
        for one in outlook.forecasts
    ]


def gate_columns() -> list[str]:
    """The titles of `gate_rows`."""
    return [str(title) for title in _TEXTS["gates"]["columns"]]


def gate_rows(forecast: GateForecast) -> list[list[str]]:
    """Each true change with how often the gate fails, holds, stays undecided, after how long."""
    rows = []
    for one in forecast.cases:
        true = change(one.change_pct) if one.change_pct else _TEXTS["gates"]["same"]
        shares = (one.failed, one.holds, one.undecided)
        cells = [f"{decimals(100 * share, '.0f')} %" for share in shares]
        rows.append([str(true), *cells, decimals(one.blocks, ".1f")])
    return rows


def best_plan_sentence(planned: BestPlan, outside_s: float = 0.0) -> Note:
    """The time to decide as written, and the quicker design where there is one; `outside_s` is of
    the run outside its trials."""
    written, best = planned.written, planned.best
    late, unknown = written.blocks is None, not planned.lengths_known
    now = Note.of(
        f"{_RULE}/best_plan.{'late' if late else 'written'}",
        most=written.max_blocks,
        time=outside_s + written.total_s,
    )
    if best is None:
        which = "late_alone" if late else "unknown_alone" if unknown else "none"
        sentence = Note.of(f"{_RULE}/best_plan.{which}", now=now)
    else:
        sentence = Note.of(
            f"{_RULE}/best_plan.text",
            step=best.step_s,
            warmup=best.warmup_s,
            blocks=blocks_of(best.min_blocks, best.max_blocks),
            time=outside_s + best.total_s,
            needed=best.blocks or 0,
            now=now,
        )
    return as_sentences(sentence, Note(f"{_RULE}/best_plan.unknown") if unknown else None)


def blocks_of(least: int, most: int) -> Note:
    """Return a range of numbers of blocks, such as `6 to 24 blocks`."""
    if least == most:
        return Note.of("findings/blocks", n=least)
    return Note.of(f"{_RULE}/blocks.range", least=least, most=most)


def _decided(expected: Expected, most: int, block_s: float, outside_s: float) -> Note:
    """When half of the runs have a verdict, and how many have one at the end."""
    half = expected.blocks
    form = "open" if half is None else "at_the_end" if half == most else "decided"
    return Note.of(
        f"{_RULE}/expected.{form}",
        blocks=half or most,
        most=most,
        time=outside_s + (half or most) * block_s,
        share=_share(expected.decided, few=half is None),
    )


def _share(share: float, *, few: bool) -> Note:
    """Such as `40 % of runs`; the simulation does not show that all of them are, or none."""
    number = round(100 * share)
    form = {100: "all", 0: "none"}.get(number, "few" if few else "some")
    return Note.of(f"{_RULE}/expected.{form}", percent=number)
