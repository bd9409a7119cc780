"""The special functions of scipy, loaded when the first is asked for.

Enters: names of functions. Leaves: those of `scipy.special`. Never: loads what they do not use.

scipy.special reads every part of numpy, those that compile Fortran and test numpy too: a third of
its time to load. They stay what they are, but are read when something of theirs is asked for.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

_PARTS = ("f2py", "testing", "ma")
"""Of numpy, which no command uses but by way of other parts of scipy."""


def __getattr__(name: str) -> Any:
    """Returns the function with this name."""
    if name.startswith("_"):
        raise AttributeError(name)
    for part in _PARTS:
        _read_later(part)
    import scipy.special

    found = globals()[name] = getattr(scipy.special, name)
    return found


def _read_later(part: str) -> None:
    """Puts a part of numpy in its place unread, as importlib's documentation does."""
    name = f"numpy.{part}"
    found = None if name in sys.modules else importlib.util.find_spec(name)
    if found is None or found.loader is None:
        return
    found.loader = loader = importlib.util.LazyLoader(found.loader)
    sys.modules[name] = module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    setattr(sys.modules["numpy"], part, module)
