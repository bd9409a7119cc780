"""Values of trial.json with only what a test is about.

Enters: fields by name. Leaves: models of trial.json, with plain values for the others.
Never: reads or writes a file.
"""

from __future__ import annotations

from typing import Any

from pgassay.samples.forms.trial import Slice, Step, TrialFile

_SPAN = {"index": 0, "start_ns": 0, "end_ns": 1_000_000_000, "transactions": 100, "failed": 0}


def step_of(**given: Any) -> Step:
    """A measured step of one client."""
    usual = {"clients": 1, "measured": True, "tps": 100.0, "client_cpu_s": 0.0}
    return Step(**{**_SPAN, **usual, **given})


def slice_of(**given: Any) -> Slice:
    """A slice of the variant "a"."""
    return Slice(**{**_SPAN, "variant": "a", "crossing": 0, "latency_ms": {}, **given})


def trial_file(**given: Any) -> TrialFile:
    """The first trial, of the arm "a1"."""
    usual = {
        "schema": TrialFile.schema_name(),
        "number": 1,
        "block": 1,
        "position": 1,
        "arm": "a1",
        "levels": {},
        "load": {"steps": [step_of().model_dump()]},
        "checkpoints_from": "log",
        "warnings": [],
    }
    return TrialFile.read({**usual, **given})
