"""Text of servers and files in whatever encoding, made readable.

Enters: bytes; a session's adapters. Leaves: text, in which each byte that is not UTF-8 is shown by
its number: `caf\\xe9`. Never: fails; the samplers show such bytes in the same way.
"""

from __future__ import annotations

import json
from typing import Any

from psycopg import postgres
from psycopg.abc import AdaptContext
from psycopg.adapt import Buffer, Loader

from pgassay.spec.reading.texts import shown

_TEXTS = (0, *(postgres.types[name].oid for name in ("text", "name", "varchar", "bpchar")))
"""Types by their number; 0 stands for those that psycopg does not know."""


class _Text(Loader):
    def load(self, data: Buffer) -> str:
        return shown(bytes(data))


class _Json(Loader):
    def load(self, data: Buffer) -> Any:
        # A backslash would begin an escape of JSON.
        return json.loads(bytes(data).decode("utf-8", "replace"))


def read_leniently(session: AdaptContext) -> None:
    """Names of any encoding are in pg_database, pg_roles and pg_stat_activity."""
    for oid in _TEXTS:
        session.adapters.register_loader(oid, _Text)
    for name in ("json", "jsonb"):
        session.adapters.register_loader(postgres.types[name].oid, _Json)
