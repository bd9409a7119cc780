"""Files of parameters: rows whose columns are variables of a scenario's script.

Enters: the path of a file, the order of its rows. Leaves: what is known of the file without its
values (a hash, rows, columns), or a SpecError. Never: keeps, shows or stores a value.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pgassay.refusals.refusal import Refusal

Order = Literal["random", "sequential"]
ColumnType = Literal["int", "double", "bool", "text"]
SUFFIXES = (".parquet", ".csv")
AUTOMATIC = ("client_id", "default_seed", "random_seed", "scale")
"""Variables that the engine sets itself."""
_LETTERS = "A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff"
VARIABLE = re.compile(f"[{_LETTERS}][{_LETTERS}0-9]*")
"""What a variable of a script may be called."""


@dataclass(frozen=True)
class ParameterColumn:
    """A column of a file of parameters: a variable and its type in the script language."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class ParameterFile:
    """The rows that the transactions of a scenario take; the values remain in the file."""

    path: str = field(compare=False)
    """Where it is; the same rows elsewhere are equal."""
    order: Order
    sha256: str
    rows: int
    columns: tuple[ParameterColumn, ...]

    @property
    def names(self) -> list[str]:
        """The variables that it gives."""
        return [column.name for column in self.columns]

    def described(self) -> dict[str, Any]:
        """Returns the object of it in JSON: without a value, and without its folder."""
        columns = [asdict(column) for column in self.columns]
        return {
            "file": Path(self.path).name,
            "rows": self.rows,
            "columns": columns,
            "order": self.order,
        }


def parameter_file(path: Path, order: Order, key: str | None = None) -> ParameterFile:
    """Returns what is known of a file that exists. `key` is the place that names it, for errors.

    Raises SpecError for a file of another kind, a damaged one, one without rows, and for columns
    that cannot be variables.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise Refusal("parameters-suffix", key).in_file(str(path))
    from pgassay.spec.workload.parameter_values import columns_and_rows  # pyarrow, for these alone

    columns, rows = columns_and_rows(path)
    for refusal in (*_unfit_names([column.name for column in columns]), *_without_rows(rows)):
        raise refusal.in_file(str(path))
    return ParameterFile(str(path.absolute()), order, digest(path), rows, columns)


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file as hexadecimal digits; raises SpecError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Refusal("file-unreadable", why=error.strerror).in_file(str(path)) from None


def _unfit_names(names: Sequence[str]) -> Iterator[Refusal]:
    """Columns by number: without a header the names would be values."""
    for number, name in enumerate(names, 1):
        if not VARIABLE.fullmatch(name):
            yield Refusal("parameters-column-name", number=number)
        if name in AUTOMATIC:
            yield Refusal("parameters-column-automatic", name=name)
    for name, count in Counter(names).items():
        if count > 1:
            first = names.index(name)
            yield Refusal(
                "parameters-column-twice", one=first + 1, other=names.index(name, first + 1) + 1
            )


def _without_rows(rows: int) -> Iterator[Refusal]:
    if rows == 0:
        yield Refusal("parameters-without-rows")
