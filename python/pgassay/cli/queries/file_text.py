"""The experiment file of `pgassay queries`.

Enters: the options. Leaves: the text of the file. Never: checks what a value means; the reader of
experiment files does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import Refusal
from pgassay.spec.factors.sql_words import starts_as_sql
from pgassay.spec.factors.tables import LONGEST, UNCHANGED
from pgassay.spec.reading.tables import toml_key, toml_literal
from pgassay.spec.settings.catalogue import entries_of
from pgassay.spec.stopping import LEAST_BLOCKS
from pgassay.spec.workload.queries import read_queries

_PARTS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[(\[]|[)\]]|,|[^'"(\[)\],]+|['"]""")


_SERVERS = ("version", "bin")
"""Names of what the levels of servers are, which are no settings."""


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    folder: Path
    against: Path | None
    vary: Sequence[str]
    dsn: str | None
    copies: bool
    accept: Sequence[str] | None
    workload: str | None
    writes: str | None
    scale: int | None
    load: Mapping[str, Any]
    max_blocks: int | None


def file_text(asked: Asked) -> str:
    """Returns the text of the file. Raises Refusal for an option that is no NAME=LEVEL,LEVEL, for
    SQL under the name of a setting, and for SQL or versions on a server of the user's."""
    named = [_factor(one) for one in asked.vary]
    settings, schema = dict[str, Any](), dict[str, Any]()
    forms, servers = dict[str, Any](), dict[str, Any]()
    for name, levels in named:
        if name in _SERVERS:
            servers[name] = [int(one) if one.isdecimal() else one for one in levels]
        elif not _is_setting(name) and all(one.endswith(".sql") or not one for one in levels):
            is_query = any(one.name == name for one in read_queries(asked.folder))
            (forms if is_query else schema)[name] = levels
        elif _is_setting(name) or not any(map(starts_as_sql, levels)):
            settings[name] = levels
        else:
            schema[name] = _of_schema(levels)
    for name, levels in settings.items():
        if sql := next((one for one in levels if starts_as_sql(one) and " " in one), None):
            raise Refusal("setting-named-for-sql", f"--vary {name}=…", name=name, sql=sql)
    if schema and asked.dsn is not None and not asked.copies:
        raise Refusal("sql-without-copy", f"--vary {next(iter(schema))}=…")
    if servers and asked.dsn is not None and not asked.copies:
        raise Refusal("servers-without-copy", f"--vary {next(iter(servers))}=…")
    names = " or ".join(name for name, _ in named)
    folder = asked.folder.resolve().name
    question = (
        f"Which queries of {folder} does {names} change?"
        if named
        else f"How long do the queries of {folder} take?"
        if asked.against is None
        else f"Which queries of {folder} are faster or slower than before?"
    )
    tables: dict[str, dict[str, Any]] = {
        "target": {"dsn": asked.dsn, "accept": asked.accept},
        "workload": {
            "use": asked.workload,
            "scale": asked.scale,
            "queries": None if asked.against else str(asked.folder),
            "writes": asked.writes,
        },
        "load": dict(asked.load),
        "factors.workload": {
            "queries": [str(asked.against), str(asked.folder)] if asked.against else None
        },
        "factors.postgres": settings,
        "factors.schema": schema,
        "factors.scenarios": forms,
        "factors.target": servers,
        "reset": {"level": "snapshot" if asked.copies else "none" if asked.dsn else None},
    }
    if asked.max_blocks is not None:
        least = min(asked.max_blocks, LEAST_BLOCKS)
        tables["design"] = {"min_blocks": least, "max_blocks": asked.max_blocks}
    lines = [f"question = {toml_literal(question)}"]
    for table, keys in tables.items():
        written = {name: value for name, value in keys.items() if value is not None}
        if written:
            lines += ["", f"[{table}]"]
            lines += [f"{toml_key(name)} = {toml_literal(one)}" for name, one in written.items()]
    return "\n".join(lines) + "\n"


def _factor(text: str) -> tuple[str, list[str]]:
    name, equals, levels = text.partition("=")
    if not equals or not name.strip():
        raise Refusal("factor-form", f"--vary {text!r}")
    return name.strip(), _levels(levels)


def _of_schema(levels: Sequence[str]) -> Sequence[str] | Mapping[str, str]:
    """SQL that is too long to be the name of its level is named by its beginning."""
    if all(len(one) <= LONGEST for one in levels):
        return levels
    named: dict[str, str] = {}
    for sql in levels:
        words = " ".join(sql.split()) or UNCHANGED
        name = words if len(words) <= LONGEST else f"{words[: LONGEST - 6]}…"
        named[f"{name} ({len(named) + 1})" if name in named else name] = sql
    return named


def _is_setting(name: str) -> bool:
    """Whether PostgreSQL or, with a dot, an extension has a setting of this name."""
    return "." in name or bool(entries_of(name))


def _levels(text: str) -> list[str]:
    """Splits at commas outside of quotes and brackets."""
    found, depth = [""], 0
    for part in _PARTS.findall(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(part, 0)
        if part == "," and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return [one.strip() for one in found]
