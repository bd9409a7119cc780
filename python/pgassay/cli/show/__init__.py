"""`pgassay show`, and the programs whose columns it prints with `--host`."""

from typing import Literal

Program = Literal["vmstat", "iostat"]
