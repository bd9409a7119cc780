"""Whether slow modes of latency are likely the scheduler's: sessions queued for a processor.

Enters: an Analysis, its modes. Leaves: a share, sentences. Never: calls the scheduler the cause.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.curves.modes.model import LatencyModes
from pgassay.analysis.model import Analysis
from pgassay.analysis.waits.cpu_queue import OF_THE_LOAD
from pgassay.findings.wording import texts_of, time_of
from pgassay.notes import Note

_TEXTS = texts_of(__name__)
_RULE = "findings/behaviour/mode_queues"


def queued_pct(analysis: Analysis, arm: str) -> float | None:
    """Time that the sessions of an arm were queued, in per cent of its mean latency.

    None where the kernel's counts were not read, or where it is below the limit.
    """
    signals = next((one for one in analysis.explanation.signals if one.arm == arm), None)
    if signals is None:
        return None
    latencies = {one.number: one.whole.values.get("latency_mean") for one in analysis.answer.trials}
    totals = [signals.total("processes", kind, "queue_ns") for kind in OF_THE_LOAD]
    shares = []
    for trial, *queued_ns in zip(signals.trials, *totals, strict=True):
        known = [one for one in queued_ns if one is not None]
        mean_ms = latencies.get(trial.number)
        if known and mean_ms and trial.transactions:
            queued_ms = sum(known) / 1e6 * trial.seconds / trial.transactions
            shares.append(100.0 * queued_ms / mean_ms)
    share = sum(shares) / len(shares) if shares else 0.0
    return share if share >= _TEXTS["least_pct"] else None


def queued_sentence(searched: Sequence[LatencyModes], share: float, arm: str) -> Note:
    """Returns which share of latency clients queued for a processor, and of which slow modes."""
    peaks = [one.modes[-1].peak_ms.value for one in searched if len(one.modes) > 1]
    everywhere = len(peaks) == len(searched) > 1
    modes = Note(f"{_RULE}/other")
    if everywhere and max(peaks) <= _TEXTS["same_within"] * min(peaks):
        modes = Note.of(f"{_RULE}/same", low=time_of(min(peaks)), high=time_of(max(peaks)))
    return Note.of(f"{_RULE}/queued", arm=arm, share=share, modes=modes)


def confirmation() -> Note:
    """Returns what would show whether the scheduler makes the slow mode."""
    return Note(f"{_RULE}/confirm")
