"""Expects a refusal by its code.

Enters: a code of the catalogue, the key and the file that the refusal names, some of its values.
Leaves: what is inside was refused so, or a failed test; the error is then `value`. Never: looks at
the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import pytest

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import UnfitValue


class refused:  # noqa: N801 - it stands where `pytest.raises` would
    """What is inside raises the refusal of that code, key, file and these values; each is compared
    if it is given."""

    value: Any

    def __init__(
        self, code: str, key: str | None = None, file: str | None = None, /, **values: object
    ) -> None:
        self.code, self.key, self.file, self.values = code, key, file, values

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if error is None:
            pytest.fail(f"nothing was refused; expected {self.code}")
        found = error.refusal if isinstance(error, UnfitValue) else error
        if not isinstance(found, PgassayError):
            return False
        self.value = found
        assert getattr(found, "code", found) == self.code
        assert self.key is None or getattr(found, "key", None) == self.key
        assert self.file is None or getattr(found, "file", None) == self.file
        of_error = getattr(found, "values", {})
        assert {name: of_error.get(name) for name in self.values} == self.values
        return True


def codes_of(found: Iterable[PgassayError]) -> list[str]:
    """Returns the codes of what was refused, in order; of an error without one its class."""
    return [getattr(one, "code", type(one).__name__) for one in found]
