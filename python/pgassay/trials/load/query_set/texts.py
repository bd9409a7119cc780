"""The text of a query as it is sent.

Enters: a query of a set, its columns of parameters. Leaves: a `SentQuery`; or a refusal of what
cannot be run in a transaction that is rolled back. Never: sends it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgassay import _core
from pgassay.refusals.refusal import Refusal
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import VARIABLE
from pgassay.trials.load.scripts import check_plain_sql, wrong_script

_NO_SQL = re.compile(r"\A(?:[\s;]|--[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORDS = re.compile(r"\s+")
_NOT_POSSIBLE = re.compile(
    r"(BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE"
    r"|SET (LOCAL |SESSION )?TRANSACTION|SET SESSION CHARACTERISTICS|DISCARD|COPY"
    r"|ANALYZE|VACUUM|REINDEX|CLUSTER|CHECKPOINT|LOCK)\b",
    re.IGNORECASE,
)
"""READ ONLY lets those of the last line pass; a rollback does not undo all that ANALYZE does."""
_EXPLAINED = re.compile(
    r"\(|(SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE
)
_MARK = re.compile(r"\$\d+")
_WRITTEN_MARK = re.compile(
    r"[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/"
    r"|[^\W\d][\w$]*|(?P<tag>\$(?:[^\W\d]\w*)?\$).*?(?P=tag)|\$(?P<mark>\d+)",
    re.DOTALL,
)
"""Texts in quotes, comments and names, in which $1 is no parameter; or a parameter."""


@dataclass(frozen=True)
class SentQuery:
    """A query as the server gets it."""

    name: str
    text: bytes
    """With $1, $2 … where it has variables."""
    variables: tuple[str, ...]
    """The variable of each $n, in their order."""
    is_explained: bool
    """Whether EXPLAIN takes it: one statement, and of a kind that has a plan."""


def sent(query: Scenario) -> SentQuery:
    """Returns a query as it is sent. Raises Refusal for one without SQL, with commands of psql or
    of transactions, or with variables that nothing gives."""
    check_plain_sql(query.file, query.script)
    found = _statements(query)
    if not found:
        raise Refusal("query-of-nothing", name=query.name).in_file(query.file)
    for one in found:
        if match := _NOT_POSSIBLE.match(_WORDS.sub(" ", one)):
            word = match[0].upper()
            raise Refusal("query-not-possible", name=query.name, word=word).in_file(query.file)
    for part in _WRITTEN_MARK.finditer(query.script):
        if part["mark"] is not None:
            raise Refusal("query-with-marks", name=query.name, mark=part[0]).in_file(query.file)
    text, variables = query.script, _variables(query, found)
    if variables:
        (text,) = found
    is_explained = len(found) == 1 and _EXPLAINED.match(found[0]) is not None
    return SentQuery(query.name, text.encode(), variables, is_explained)


def _statements(query: Scenario) -> list[str]:
    """Its statements from their first words on, with $1, $2 … for variables."""
    if not _NO_SQL.sub("", query.script, count=1):
        return []
    try:
        parsed = _core.script_statements(query.file, query.script.encode())
    except _core.ScriptError as error:
        raise wrong_script(error) from None
    bare = (_NO_SQL.sub("", text.decode(), count=1) for _, text in parsed)
    return [text for text in bare if text]


def _variables(query: Scenario, statements: Sequence[str]) -> tuple[str, ...]:
    """The variables of the only statement, in the order in which they stand in it: what is sent
    differs from what is written in nothing else."""
    if all(one in query.script for one in statements):
        return ()
    if len(statements) > 1 and query.parameters is not None:
        raise Refusal("parameters-of-several-statements", name=query.name).in_file(query.file)
    written = rf"(?::({VARIABLE.pattern})|\$\d+)"
    parts = (written.join(map(re.escape, _MARK.split(one))) for one in statements)
    found = re.search(r".*?".join(parts), query.script, re.DOTALL)
    names = tuple(name for name in (found.groups() if found else ()) if name is not None)
    known = query.parameters.names if query.parameters is not None else ()
    for name in names:
        if name not in known:
            code = "query-variable-not-in-file" if known else "query-variable-without-file"
            raise Refusal(code, name=query.name, variable=name).in_file(query.file)
    return names
