"""A stored trial of another form, or one that lacks a key, is refused by name or is read."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgassay.errors import RunDirectoryError
from pgassay.readings.trial_readings import TrialReadings
from pgassay.samples.forms.observation import SegmentFile
from pgassay.samples.forms.statements import PlansFile
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.run_directory import RunDirectory
from pgassay.stored_model import StoredFile
from pgassay.workflows.reporting import analyse_run
from support.refusals import refused
from support.synthetic.directories import SPEC, synthetic_run

pytestmark = pytest.mark.slow

REAL: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data/trial.json").read_text())
Path_ = tuple[str | int, ...]
TYPED = ("place", "found", "wanted")


OF_SETTINGS = ("settings", "knobs")
"""Objects whose keys are names of settings, none of which the analysis looks up."""


def keys_of(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Every key of every object, the first of a list or of settings standing for all."""
    if isinstance(value, dict):
        most = 1 if at and at[-1] in OF_SETTINGS else None
        for key, inner in islice(value.items(), most):
            yield (*at, key)
            yield from keys_of(inner, (*at, key))
    elif isinstance(value, list) and value:
        yield from keys_of(value[0], (*at, 0))


def fits(value: Mapping[str, Any], model: type[StoredFile]) -> bool:
    return model.read(value).schema_name() == str(value["schema"])


def holder(value: Any, path: Path_) -> Any:
    for part in path[:-1]:
        value = value[part]
    return value


def as_real(synthetic: Mapping[str, Any]) -> dict[str, Any]:
    """A real trial.json that goes with a synthetic trial's tables."""
    found = copy.deepcopy(REAL)
    own = ("number", "block", "position", "arm", "levels", "started_ns", "ended_ns")
    found |= {name: synthetic[name] for name in own}
    step = found["load"]["steps"][0]
    found["load"]["steps"] = [{**step, **other} for other in synthetic["load"]["steps"]]
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Two trials of a real form."""
    short = SPEC.replace('"10s"', '"3s"')
    found, _, _ = synthetic_run(
        tmp_path_factory.mktemp("stored") / "run", spec_text=short, blocks=1
    )
    for number in (1, 2):
        file = found.path / "trials" / f"{number:04d}" / "trial.json"
        file.write_text(json.dumps(as_real(json.loads(file.read_text()))))
    return found


@cache
def second_read(run: Path) -> bytes:
    """The readings of a run whose second trial, which no test changes, has been read."""
    directory = RunDirectory(run)
    readings = TrialReadings(directory, directory.plan())
    readings.of(2)
    return pickle.dumps(readings)


def outcome_of(run: RunDirectory, changed: Mapping[str, Any]) -> str:
    """Of the analysis with this in the first trial's place: "read", or what it was refused for."""
    file = run.path / "trials" / "0001" / "trial.json"
    before = file.read_text()
    file.write_text(json.dumps(changed))
    try:
        analyse_run(run, pickle.loads(second_read(run.path)))  # noqa: S301 (our own)
    except RunDirectoryError as error:
        return str(error)
    finally:
        file.write_text(before)
    return "read"


def test_any_key_may_be_gone_and_the_trial_is_read_or_refused_with_file_and_key(
    run: RunDirectory,
) -> None:
    whole = run.trial(1).summary().to_json()
    assert outcome_of(run, whole) == "read"
    refused = []
    for path in keys_of(whole):
        changed = copy.deepcopy(whole)
        del holder(changed, path)[path[-1]]
        reported = outcome_of(run, changed)
        if reported != "read":
            refused.append(path[-1])
            assert "0001/trial.json: " in reported
            assert f"{path[-1]}'" in reported
    assert {"schema", "arm", "load", "steps", "tps", "client_cpu_s", "server_s"} <= set(refused)
    assert not {"fingerprint", "validity", "repeats", "reset", "clock", "log"} & set(refused)


@settings(max_examples=40, deadline=None)
@given(
    path=st.sampled_from(list(keys_of(REAL))),
    value=st.sampled_from([None, "text", 7, [], {}, True, [None], {"a": 1}]),
)
def test_whatever_stands_in_a_keys_place_it_is_never_an_internal_error(
    run: RunDirectory, path: Path_, value: object
) -> None:
    changed = copy.deepcopy(run.trial(1).summary().to_json())
    holder(changed, path)[path[-1]] = value
    reported = outcome_of(run, changed)
    assert reported == "read" or "0001/trial.json: " in reported


def test_a_later_form_is_refused_by_name(run: RunDirectory) -> None:
    whole = run.trial(1).summary().to_json()
    with refused("of-another-schema", found="pgassay.trial/2", wanted="pgassay.trial/1"):
        TrialFile.read({**whole, "schema": "pgassay.trial/2"})


@pytest.mark.parametrize(
    ("path", "value", "misfit"),
    [
        (("load", "steps", 0, "tps"), "fast", ("load.steps[0].tps", "text", "a number")),
        (
            ("load", "steps", 0, "measured"),
            1,
            ("load.steps[0].measured", "a whole number", "true or false"),
        ),
        (("number",), True, ("number", "true or false", "a whole number")),
        (("warnings",), ["a", 2], ("warnings[1]", "a whole number", "text")),
        (("load", "steps"), [], "no-measured-step"),
        (("arm",), "all", "slices-missing"),
    ],
)
def test_a_wrong_field_is_named_with_the_expected_form(
    path: Path_, value: object, misfit: str | tuple[str, ...]
) -> None:
    changed = copy.deepcopy(REAL)
    for step in changed["load"]["steps"]:
        step["measured"] = True
    assert fits(changed, TrialFile)
    holder(changed, path)[path[-1]] = value
    code = misfit if isinstance(misfit, str) else "key-of-another-type"
    values = {} if isinstance(misfit, str) else dict(zip(TYPED, misfit, strict=True))
    with refused(code, **values):
        TrialFile.read(changed)


def test_a_segment_is_held_to_its_own_form() -> None:
    segment: dict[str, Any] = {
        "schema": "pgassay.segment/1",
        "number": 1,
        "started_ns": 1,
        "ended_ns": 2,
        "sampler_cost": {},
        "checkpoints_from": "log",
        "warnings": [],
    }
    assert fits(segment, SegmentFile)
    del segment["sampler_cost"]
    with refused("stored-key-missing", place="sampler_cost"):
        SegmentFile.read(segment)


def test_plans_of_a_wrong_form_are_refused_by_name() -> None:
    plans = {
        "schema": PlansFile.schema_name(),
        "arms": [{"arm": "a1", "statements": [{"scenario": "find"}]}],
    }
    with refused("stored-key-missing", place="arms[0].statements[0].line"):
        PlansFile.read(plans)
