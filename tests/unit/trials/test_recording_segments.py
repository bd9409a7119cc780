"""Segments end early where room is short; a warning of one kind is reported once."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, cast

import pytest

from pgassay.analysis.observation.summary import summarise_observation
from pgassay.cli.show.shown import show_run
from pgassay.notes import Note
from pgassay.samples.layout import OBSERVATION
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.record import Piece, SegmentEnd
from pgassay.trials.observing import Recorder
from pgassay.workflows import observation
from pgassay.workflows.observation import Request
from support.refusals import refused
from support.synthetic.segments import NOTHING, end_of, waits

NO_TIME_ZONE = Note("trials/server_log/no-time-zone")


def drift(drift_ms: float) -> Note:
    return Note("trials/server_log/drifted", {"drift_ms": drift_ms})


class Recording:
    """A recorder whose segments never grow old."""

    def __init__(self) -> None:
        self.pieces = self.ended = 0
        self.age_s = 0.0

    @property
    def segment_age_s(self) -> float:
        return 10.0 * (self.pieces + 1)

    def cost(self) -> dict[str, float]:
        return {}

    def live_figures(self) -> None:
        return None

    def take(self) -> Piece:
        self.pieces += 1
        return Piece(waits(100 + 100 * self.pieces, 1000), NOTHING, NOTHING)

    def end_segment(self, *, last: bool) -> SegmentEnd:
        self.ended += 1
        assert not last
        return end_of(100, 200, notes=(drift(-5.0 * self.ended), NO_TIME_ZONE))


class Told:
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def began(self, *_: Any) -> None: ...

    def sampled(self, *_: Any) -> None: ...

    def took(self, *_: Any) -> None: ...

    def stored(self, *_: Any) -> None: ...

    def warned(self, text: str) -> None:
        self.warnings.append(text)


def record(directory: ObservationDirectory, request: Request, segments: int) -> tuple[int, Told]:
    recording, reported = Recording(), Told()
    kinds: dict[Hashable, Note] = {}
    for number in range(1, segments + 1):
        recorder = cast(Recorder, recording)
        assert not observation._record_segment(
            number, recorder, request, directory, reported, lambda: False, kinds
        )
    return recording.pieces, reported


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObservationDirectory:
    monkeypatch.setattr(observation, "_LOOK_EVERY_S", 0.0)
    return ObservationDirectory.create(tmp_path / "run")


def test_a_segment_ends_early_at_a_tenth_of_the_room(directory: ObservationDirectory) -> None:
    request = Request(segment_s=86_400.0, keep_s=10 * 86_400.0, max_disk_bytes=2_000_000)
    pieces, _ = record(directory, request, segments=1)
    assert 2 < pieces < 100
    assert directory.segment(1).bytes() < request.segment_bytes


def test_a_drift_is_one_warning_with_its_latest_amount(directory: ObservationDirectory) -> None:
    _, reported = record(directory, Request(max_disk_bytes=1), segments=3)
    assert reported.warnings == [str(drift(-5.0)), str(NO_TIME_ZONE)]
    observed = summarise_observation(list(directory.segments()))
    assert observed.notes == (drift(-15.0), NO_TIME_ZONE)


def test_an_observation_has_no_trials_to_show(directory: ObservationDirectory) -> None:
    directory.write_json(OBSERVATION, {})
    with refused("trial-of-an-observation"):
        show_run(directory.path, None, 1, as_json=False)
