"""Which part of a transaction's time makes the difference between two arms, in words.

Enters: an Analysis. Leaves: a finding per level whose verdict says that it differs, and one where
the parts sum to more than the whole. Never: says "because": levels are assigned at random, so the
part is confirmed to change with the level; that it causes the verdict is an inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pgassay.analysis.compare.model import Accounting, TimePart
from pgassay.analysis.model import Analysis, RunFacts, Verdict
from pgassay.findings.model import Confidence, Finding, FindingKind
from pgassay.findings.wording import as_sentences, share_interval, texts_of
from pgassay.notes import Note, Term
from pgassay.quantities import TIME_DIGITS, time_digits

_RULE = "findings/answer/time_parts"
_RULES = texts_of(__name__)
_LIMITS = _RULES["thresholds"]
_MOST_SHARE: float = _LIMITS["most_share"]
_QUEUE = "cpu_queue"
DOUBTS = "time_parts/doubts"
"""The rule of findings on how far the parts can be trusted."""


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Shares first, then doubts about the sum."""
    judged = {
        (c.factor, c.level)
        for c in analysis.answer.verdicts()
        if c.step is None and c.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
    }
    found = [
        _shares(one)
        for one in analysis.answer.accounting
        if (one.factor, one.level) in judged and one.whole.is_clear
    ]
    doubts = _queued(analysis)
    doubts += [note for one in analysis.answer.accounting for note in _too_much(one)]
    kind, title = FindingKind.EXPLANATION, Note(f"{_RULE}/title")
    return [
        *(Finding(kind, title, note) for note in found),
        *(Finding(kind, title, note, rule=DOUBTS) for note in doubts),
    ]


def _shares(one: Accounting) -> Note:
    return as_sentences(_head(one), _clear_shares(one))


def _clear_shares(one: Accounting) -> Note:
    """The largest shares whose intervals exclude zero; the queue for a processor last, since what
    else runs on the host and the other parts make it."""
    clear = sorted(
        (part for part in one.parts if _is_clear_share(part)),
        key=lambda part: (part.name != _QUEUE, part.share_pct or 0.0),
        reverse=True,
    )[: _LIMITS["most_shares"]]
    return _of_parts(clear) if clear else _unclear(one)


def _head(one: Accounting) -> Note:
    whole = one.whole
    digits = time_digits(max(whole.baseline_ms, whole.level_ms))
    return Note.of(
        f"{_RULE}/texts.whole",
        subject=f"{one.factor} = {one.level}",
        baseline=one.baseline,
        # As the table shows it: the difference of the rounded figures.
        size=abs(round(whole.level_ms, digits) - round(whole.baseline_ms, digits)),
        way=Term("less") if whole.difference_ms < 0.0 else Term("more"),
    )


def point_to_causes(found: Sequence[Finding], analysis: Analysis) -> list[Finding]:
    """Names the confirmed diagnoses of a factor before the parts of the time that it changes."""
    pointing = {
        _shares(one): as_sentences(
            _head(one),
            Note.of(f"{_RULE}/texts.diagnosed", factor=one.factor, causes=causes),
            _clear_shares(one),
        )
        for one in analysis.answer.accounting
        if (causes := _causes(one.factor, found))
    }
    return [replace(one, claim=pointing.get(one.claim, one.claim)) for one in found]


def _causes(factor: str, found: Sequence[Finding]) -> tuple[Note, ...]:
    return tuple(
        one.title
        for one in found
        if one.kind is FindingKind.DIAGNOSIS
        and one.confidence is Confidence.CONFIRMED
        and factor in one.factors
    )


def _of_parts(clear: Sequence[TimePart]) -> Note:
    """The shares of those whose intervals are narrow enough to give a number."""
    sized = [part for part in clear if (part.share_ci95_pct or (0.0, 0.0))[1] <= _MOST_SHARE]
    if not sized:
        return Note.of(f"{_RULE}/texts.some", parts=tuple(map(_named, clear)))
    first, *others = sized
    shares = (_share("first", first), *(_share("next", part) for part in others))
    return Note.of(f"{_RULE}/texts.shares", shares=shares)


def _unclear(one: Accounting) -> Note:
    """With the part whose share is the largest, as the table shows it."""
    largest = max(one.parts, key=lambda part: part.share_pct or 0.0)
    if (largest.share_pct or 0.0) < _LIMITS["least_share"]:
        return Note(f"{_RULE}/texts.unclear")
    return _share("unclear_largest", largest)


def _share(form: str, part: TimePart) -> Note:
    share, interval = part.share_pct or 0.0, share_interval(part)
    return Note.of(f"{_RULE}/texts.{form}", part=_named(part), share=share, interval=interval)


def named_parts(analysis: Analysis, factor: str, level: str) -> set[str]:
    """The metrics of the parts that the sentence on this level names."""
    one = next(
        (o for o in analysis.answer.accounting if (o.factor, o.level) == (factor, level)), None
    )
    if one is None or not one.whole.is_clear:
        return set()
    return {f"wait_{part.name}_ms_per_tx" for part in one.parts if _is_clear_share(part)}


def _queued(analysis: Analysis) -> list[Note]:
    """How long sessions were queued for a processor, of the level where that is most."""
    queued = {
        (c.factor, c.level): c
        for c in analysis.answer.comparisons
        if c.metric == "session_queue_ms_per_tx" and c.step is None
    }
    found = [
        (max(c.baseline_mean / whole.baseline_ms, c.level_mean / whole.level_ms), c, whole)
        for one in analysis.answer.accounting
        if (c := queued.get((one.factor, one.level))) is not None
        and min((whole := one.whole).baseline_ms, whole.level_ms) > 0.0
    ]
    if not found or max(found, key=lambda one: one[0])[0] < _LIMITS["least_queued"]:
        return []
    _, most, whole = max(found, key=lambda one: one[0])
    return [
        Note.of(
            f"{_RULE}/texts.queued",
            subject=f"{most.factor} = {most.level}",
            baseline=f"{most.factor} = {most.baseline}",
            baseline_ms=most.baseline_mean,
            level_ms=most.level_mean,
            baseline_whole=whole.baseline_ms,
            level_whole=whole.level_ms,
        )
    ]


def _is_clear_share(part: TimePart) -> bool:
    """A share of the same sign as the whole, large enough to say, its interval beyond zero."""
    ends = part.share_ci95_pct
    return ends is not None and ends[0] > 0.0 and (part.share_pct or 0.0) >= _LIMITS["least_share"]


def _named(part: TimePart) -> Term:
    return Term(_RULES["parts"].get(part.name, part.title))


def _too_much(one: Accounting) -> Iterator[Note]:
    """Arms whose parts sum to more than their transactions took, beyond the noise of sampling."""
    rest = one.parts[-1]
    for level, missing, interval in zip(
        (one.baseline, one.level),
        (rest.baseline_ms, rest.level_ms),
        one.unaccounted_ci95_ms,
        strict=True,
    ):
        if round(missing, TIME_DIGITS) < 0.0 and interval is not None and interval[1] < 0.0:
            subject = f"{one.factor} = {level}"
            yield Note.of(f"{_RULE}/texts.beyond", subject=subject, size=-missing)
