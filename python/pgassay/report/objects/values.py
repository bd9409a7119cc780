"""Values of the code as values of JSON.

Enters: objects, numbers. Leaves: dictionaries and lists of what JSON has. Never: leaves NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def fields(value: Any, *names: str) -> dict[str, Any]:
    """Return the named fields of a value."""
    return {name: getattr(value, name) for name in names}


def finite(value: Any) -> Any:
    """Return a value with null for NaN and infinities, which JSON does not allow, and Python's own
    types for numpy's, which `json` does not know."""
    if type(value).__module__ == "numpy" and not value.shape:  # not imported: it takes its time
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
