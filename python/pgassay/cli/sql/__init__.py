"""`pgassay sql`, and the forms it has for an answer."""

from typing import Literal

Format = Literal["table", "csv", "json", "md", "parquet"]
