"""How wide the buckets of load.parquet are, stored in the file's own metadata.

Enters: the layout of a load's histograms. Leaves: metadata of a Parquet schema, and the layout read
back from one. Never: computes with a histogram.

The metadata's key is `pgassay.histogram`, its value JSON: `{"leading_bits": 9}` says that buckets
differ in the nine leading bits of their values, `{"leading_bits": null}` that every value is exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pgassay.json_text import decoded

_KEY = b"pgassay.histogram"


@dataclass(frozen=True)
class HistogramLayout:
    """The width of a histogram's buckets."""

    leading_bits: int | None
    """Of a value, so many decide its bucket; None where each value is its own bucket."""


def with_layout(schema: pa.Schema, leading_bits: int | None) -> pa.Schema:
    """Returns the schema with the layout in its metadata."""
    layout = json.dumps({"leading_bits": leading_bits}).encode()
    return schema.with_metadata({**(schema.metadata or {}), _KEY: layout})


def layout_in(metadata: Mapping[bytes, bytes] | None) -> HistogramLayout | None:
    """Returns the stored layout; None for a file that was written before it was stored."""
    stored = (metadata or {}).get(_KEY)
    if stored is None:
        return None
    return HistogramLayout(decoded(stored)["leading_bits"])
