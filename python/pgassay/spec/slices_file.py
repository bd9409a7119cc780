"""The slices of `pgassay load --slices FILE`.

Enters: a TOML file with `[load.slices]`, as in an experiment file, which it may be; or with the
keys of that table alone. Leaves: a `SlicesTable`, or a SpecError naming file, key and fix.
Never: reads another key of an experiment, or knows the scripts.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ConfigDict

from pgassay.errors import SpecError
from pgassay.spec.slices import SlicesTable
from pgassay.spec.tables import read_table
from pgassay.spec.texts import text_of
from pgassay.spec.values import Table


class _Load(Table):
    model_config = ConfigDict(extra="ignore")

    slices: SlicesTable


class _Experiment(Table):
    model_config = ConfigDict(extra="ignore")

    load: _Load


def read_slices(named: str) -> SlicesTable:
    """The table of the file, checked for itself."""
    text = text_of(Path(named))
    try:
        is_whole = "load" in tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"not valid TOML: {error}", file=named) from None
    if is_whole:
        return read_table(_Experiment, text, named).load.slices
    return read_table(SlicesTable, text, named)
