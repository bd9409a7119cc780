"""The variants of `pgassay load`'s slices: described, never compared.

Enters: the slices of a load's result; the measures of trials. Leaves: values per variant.
Never: gives a difference an uncertainty, because slices are not trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgassay.analysis.measures.model import TrialMeasures, VariantMeasures, VariantSummary
from pgassay.samples.forms.trial import Slice


def measure_variants(slices: Iterable[Slice]) -> tuple[VariantMeasures, ...]:
    """Measures one trial's variants, in order of their first slices."""
    own: dict[str, list[Slice]] = {}
    for found in slices:
        own.setdefault(found.variant, []).append(found)
    return tuple(_measured(variant, found) for variant, found in own.items())


def _measured(variant: str, slices: Sequence[Slice]) -> VariantMeasures:
    seconds = sum(found.end_ns - found.start_ns for found in slices) / 1e9
    transactions = sum(found.transactions for found in slices)
    latency_ms = sum((found.latency_ms.mean or 0.0) * found.transactions for found in slices)
    return VariantMeasures(
        variant=variant,
        slices=len(slices),
        seconds=seconds,
        transactions=transactions,
        crossing=sum(found.crossing for found in slices),
        tps=transactions / seconds if seconds > 0 else 0.0,
        latency_mean_ms=latency_ms / transactions if transactions else None,
    )


def summarise_variants(trials: Sequence[TrialMeasures]) -> tuple[VariantSummary, ...]:
    """Sums and averages each variant of each arm."""
    own: dict[tuple[str, str], list[VariantMeasures]] = {}
    for trial in trials:
        for found in trial.variants:
            own.setdefault((trial.arm, found.variant), []).append(found)
    return tuple(_summary(*key, found) for key, found in own.items())


def _summary(arm: str, variant: str, found: Sequence[VariantMeasures]) -> VariantSummary:
    import numpy as np  # `pgassay load` uses this module and does not need numpy

    latencies = [one.latency_mean_ms for one in found if one.latency_mean_ms is not None]
    return VariantSummary(
        arm=arm,
        variant=variant,
        trials=len(found),
        slices=sum(one.slices for one in found),
        transactions=sum(one.transactions for one in found),
        crossing=sum(one.crossing for one in found),
        tps=float(np.mean([one.tps for one in found])),
        latency_mean_ms=float(np.mean(latencies)) if latencies else None,
    )
