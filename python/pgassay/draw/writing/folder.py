"""Writes the whole folder of a drawn workload.

Enters: a `Drawing`, where it goes, how it is to be written. Leaves: a folder of mode 0700, its
files of mode 0600, each whole or absent; what was written. Never: writes into a folder that holds
anything, or a script that `plan` refuses.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.draw.masking.masked import masked, without_secrets
from pgassay.draw.model import Drawing, DrawnScenario, Lost
from pgassay.draw.stored import DRAWING, drawing_file
from pgassay.draw.writing.coverage import coverage_of
from pgassay.draw.writing.expectations import Written, notes_of
from pgassay.draw.writing.experiment_file import EXPERIMENT, FirstQuestion, experiment_toml
from pgassay.draw.writing.fidelity import FIDELITY, fidelity_md
from pgassay.draw.writing.scripts import script_of
from pgassay.draw.writing.tables import tables_of
from pgassay.draw.writing.workload_file import PARAMETERS, script_name, workload_toml
from pgassay.durable import make_directory
from pgassay.errors import SpecError
from pgassay.refusals.refusal import SetupRefused
from pgassay.samples.storage.files import clear_errors, make_empty, write_atomically
from pgassay.samples.storage.json_files import without_secrets as without_secrets_json
from pgassay.spec.secrets.redaction import redacted, sql_secret_line
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.scripts import parse_scripts

_MOST_CHARACTERS = 200
"""Of the text of a lost statement."""


@dataclass(frozen=True)
class Writing:
    """How a drawing is to be written."""

    dsn: str | None = None
    """Of the server that the experiment copies; None where only its log was read."""
    factor: FirstQuestion | None = None
    think_times: bool = False
    mask: bool = False
    skew: bool = False


def write_folder(drawing: Drawing, out: Path, writing: Writing) -> Drawing:
    """Writes the folder; returns the drawing as it was written. Raises SetupRefused where nothing
    is left to write, DirectoryRefused where the folder holds anything."""
    clean = without_secrets(_usable(drawing))
    drawing, nulls = clean.drawing, clean.nulls
    if writing.mask:
        hidden = masked(drawing)
        figures = replace(drawing.figures, database="")
        drawing, nulls = replace(hidden.drawing, figures=figures), (*nulls, *hidden.nulls)
    if not drawing.scenarios:
        raise SetupRefused("nothing-drawn", lost=len(drawing.lost))
    written = Written(
        writing.think_times, writing.mask, clean.replaced, tuple(dict.fromkeys(nulls)), writing.skew
    )
    coverage = coverage_of(drawing)
    scripts = {
        one.name: script_of(one, coverage, think_times=writing.think_times)
        for one in drawing.scenarios
    }
    notes = notes_of(drawing, written)
    stored = drawing_file(drawing, scripts, notes, masked=writing.mask)
    shown = quote(str(out / EXPERIMENT))
    dsn = None if writing.mask else writing.dsn
    texts = {
        DRAWING: without_secrets_json(stored).decode(),
        FIDELITY: fidelity_md(drawing, written),
        EXPERIMENT: experiment_toml(drawing, dsn, writing.factor, shown),
        **{script_name(one): scripts[one.name] for one in drawing.scenarios},
        "workload.toml": workload_toml(drawing, tables_of(drawing)),
    }
    make_empty(out)
    with clear_errors(out):
        out.chmod(0o700)
        make_directory(out / PARAMETERS)
        for one in drawing.scenarios:
            if one.parameters is not None:
                path = out / PARAMETERS / f"{one.name}.parquet"
                write_atomically(path, _parquet(one.parameters))
        for name, text in texts.items():
            write_atomically(out / name, text.encode())
    return drawing


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _usable(drawing: Drawing) -> Drawing:
    """Without scenarios that no run would take, which are lost, with the reason."""
    coverage = coverage_of(drawing)
    kept, lost = [], list(map(_shortened, drawing.lost))
    for scenario in drawing.scenarios:
        script = script_of(scenario, coverage, think_times=True)
        reason = _why_not(scenario, script, drawing.protocol.value)
        if reason is None:
            kept.append(scenario)
        else:
            lost += [
                _shortened(Lost(reason, one.source_text, one.figures.calls, one.figures.time_ms))
                for one in scenario.statements
            ]
    return replace(drawing, scenarios=tuple(kept), lost=tuple(lost))


def _why_not(scenario: DrawnScenario, script: str, protocol: str) -> str | None:
    """The code of the reason why a scenario cannot be run; None where it can."""
    if sql_secret_line(script) is not None:
        return "draw/secret-in-text"
    try:
        one = Scenario(scenario.name, script_name(scenario), script, 1.0)
        ((_, free),) = parse_scripts([one], protocol=protocol)
    except SpecError:
        return "draw/not-a-script"
    given = set() if scenario.parameters is None else set(scenario.parameters.column_names)
    return "draw/not-a-script" if set(free) - given - {"scale", "client_id"} else None


def _shortened(lost: Lost) -> Lost:
    text = redacted(" ".join(lost.text.split()))
    return replace(lost, text=text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS])
