"""The programs whose columns `pgassay show --host` prints.

Enters: nothing. Leaves: `Program`. Never: starts one of them.
"""

from __future__ import annotations

from typing import Literal

Program = Literal["vmstat", "iostat"]
