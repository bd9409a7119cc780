"""Two periods of stored observations → what differs by more than usual.

Enters: paths of one or two observations, two periods of one. Leaves: what they say.
Never: touches a server, or writes into an observation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pgassay import __version__
from pgassay.analysis.observation.periods.compare import Period, compare_periods
from pgassay.analysis.observation.periods.settings import changed_settings, changed_within
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.observation.stored_slices import slices_in
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.context import PeriodsContext
from pgassay.samples.observation_directory import ObservationDirectory

Span = tuple[int, int]


def compare_observations(first: Path, second: Path) -> PeriodsContext:
    """Compares two observations, each as a whole; the first is the baseline."""
    if first.resolve() == second.resolve():
        raise DirectoryRefused("named-twice", second)
    directories = [ObservationDirectory.open(path) for path in (first, second)]
    periods = [_whole(one) for one in directories]
    environments = [one.environment() for one in directories]
    settings = tuple(changed_settings(environments[0], environments[1]))
    analysis = compare_periods(periods[0], periods[1], _texts(directories), settings)
    return PeriodsContext(analysis, environments[1], __version__)


def compare_within(
    path: Path, choose: Callable[[Span], tuple[Span, Span]], words: Callable[[Span], str]
) -> PeriodsContext:
    """Compares two periods of one observation; `choose` has the begin and the end of it, in
    nanoseconds, and `words` names a period."""
    directory = ObservationDirectory.open(path)
    slices = _slices(directory)
    periods = [Period(words(span), *span, slices) for span in choose(_span(slices))]
    whole = min(one.start_ns for one in periods), max(one.end_ns for one in periods)
    settings = tuple(changed_within(directory.described().changed_settings, whole))
    analysis = compare_periods(periods[0], periods[1], _texts([directory]), settings)
    return PeriodsContext(analysis, directory.environment(), __version__)


def _whole(directory: ObservationDirectory) -> Period:
    slices = _slices(directory)
    return Period(directory.name, *_span(slices), slices)


def _slices(directory: ObservationDirectory) -> Slices:
    slices = slices_in(directory)
    if not len(slices):
        raise DirectoryRefused("no-finished-segment", directory.path)
    return slices


def _span(slices: Slices) -> Span:
    return int(slices.starts_ns[0]), int(slices.ends_ns[-1])


def _texts(directories: Sequence[ObservationDirectory]) -> Mapping[str, str]:
    return {key: text for one in directories for key, text in one.statements().items()}
