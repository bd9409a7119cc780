"""Expects a refusal by its code.

Enters: a code of refusals.toml, some of its values. Leaves: what is inside was refused so, or a
failed test. Never: looks at the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pgassay.refusals.refusal import Refusal


@contextmanager
def refused(code: str, key: str | None = None, **values: object) -> Iterator[None]:
    """What is inside raises this refusal, of that key if one is given, with these values."""
    with pytest.raises(Refusal) as caught:
        yield
    assert caught.value.code == code
    assert key is None or caught.value.key == key
    assert values.items() <= caught.value.values.items()
