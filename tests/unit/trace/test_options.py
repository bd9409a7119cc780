"""What a trace does unless asked otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.cli.trace import command, execution
from pgassay.errors import SetupError
from pgassay.workflows.tracing import TraceRequest


def test_a_trace_lasts_a_minute_and_leaves_out_wal_unless_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[TraceRequest] = []

    def refused(dsn: str, request: TraceRequest, *_: object) -> None:
        asked.append(request)
        raise SetupError("no tracing here")

    monkeypatch.setattr(execution, "trace", refused)
    with pytest.raises(SetupError):
        command.trace("dbname=lab", out=tmp_path / "t")
    (request,) = asked
    assert request.duration_s == 60.0
    assert request.parts == ("lwlocks", "checkpoints", "io")
