"""What other programs used of the server's host, as trial.json and environment.json have it.

Enters: the object of the file. Leaves: an `OtherPrograms`. Never: requires more than the share of
the processors.
"""

from __future__ import annotations

from pgassay.stored_model import Items, Number, Part, Stored


class Program(Stored):
    """All processes of one name."""

    name: str
    processors: Number
    """Share of all processors."""


class OtherPrograms(Part):
    """What programs other than the server and pgassay used."""

    processors: Number
    programs: Items[Program] = ()
    """Those that used most, the first most."""
    memory_bytes: Number | None = None
    disk_bytes_per_s: Number | None = None
    disk_from: str | None = None
