"""The rows of files of parameters, as the engine takes them.

Enters: what a spec knows of a file; its content, where the file lies on another machine. Leaves:
the native module's rows, read once by a process for all its loads. Never: takes a file that is not
the one that the spec has read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa

from pgassay import _core
from pgassay.refusals.refusal import Refusal
from pgassay.spec.workload.parameter_values import values_of
from pgassay.spec.workload.parameters import ParameterColumn, ParameterFile, digest

_MOST = 16
"""Files whose rows are kept."""
_kept: dict[tuple[str, tuple[ParameterColumn, ...]], _core.Parameters] = {}
NO_CONTENTS: Mapping[str, bytes] = {}


def rows_of(file: ParameterFile, contents: Mapping[str, bytes] = NO_CONTENTS) -> _core.Parameters:
    """Returns the rows of a file; `contents` has those of other machines by their hash.

    Raises SpecError where the file is gone, has changed, or cannot be read.
    """
    key = (file.sha256, file.columns)
    if key not in _kept:
        rows = _read(file, contents.get(file.sha256))
        while len(_kept) >= _MOST:
            del _kept[next(iter(_kept))]
        _kept[key] = rows
    return _kept[key]


def lacking(files: Collection[ParameterFile]) -> list[str]:
    """Returns the hashes of those files whose rows this process has not read."""
    return [file.sha256 for file in files if (file.sha256, file.columns) not in _kept]


def content_of(file: ParameterFile) -> bytes:
    """Returns the bytes of a file; raises SpecError where it has changed."""
    _refuse_changed(file)
    return Path(file.path).read_bytes()


def _read(file: ParameterFile, content: bytes | None) -> _core.Parameters:
    path = Path(file.path)
    if content is None:
        _refuse_changed(file)
    rows = _core.Parameters([column.type for column in file.columns])
    for batch in values_of(path if content is None else content, file.columns, path):
        # Serialised, a part of a batch has buffers of its own, which begin with its first value.
        whole = pa.ipc.read_record_batch(batch.serialize(), batch.schema)
        try:
            rows.add(whole.num_rows, [_buffers(column) for column in whole.columns])
        except _core.CoreError as error:
            raise Refusal("parameters-value", why=error).in_file(file.path) from None
    return rows


def _refuse_changed(file: ParameterFile) -> None:
    path = Path(file.path)
    if not path.is_file():
        raise Refusal("parameters-gone").in_file(file.path)
    if digest(path) != file.sha256:
        raise Refusal("parameters-changed").in_file(file.path)


def _buffers(column: pa.Array) -> tuple[bytes | None, bytes | None, bytes]:
    """The bits of what is not NULL, where texts begin, and the values."""
    validity, *starts, values = column.buffers()
    return (
        None if validity is None else validity.to_pybytes(),
        starts[0].to_pybytes() if starts else None,
        b"" if values is None else values.to_pybytes(),
    )
