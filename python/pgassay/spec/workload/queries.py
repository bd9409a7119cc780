"""Read a query set: a folder of .sql files whose queries get a verdict each.

Enters: a folder. Leaves: its queries as scenarios, in the order of their names, each with its file
of parameters if there is one; or a SpecError with file and fix. Never: parses SQL or runs it.

A file is one query, named as the file is; lines `-- name: NAME` split it into several, also as sqlc
and aiosql write them (`-- name: GetUser :one`, `-- name: get_user^`). A line
`-- calls: NUMBER` says how often a query is called. Rows for the variables of the query q7 lie
beside it, in q7.parquet or q7.csv.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.texts import Roots, may_read, shown, text_of
from pgassay.spec.secrets.redaction import sql_secret_line
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import SUFFIXES, ParameterFile, parameter_file

KEY = "workload.queries"
MOST_BYTES = 1 << 20
"""Of a file: a larger one is data, not a query."""
MOST_QUERIES = 500
_NAME_LINE = re.compile(r"^[ \t]*--[ \t]*name:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_CALLS_LINE = re.compile(r"^[ \t]*--[ \t]*calls:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_CALLS = re.compile(r"\d{1,15}(\.\d+)?")
_KIND = re.compile(r"(?:[ \t]+:\w+|(?:\([^()]*\))?(?:\^|\$|<!|\*!|!|#)?)$")
"""What a query gives, as sqlc (`:one`) and aiosql (`^`, `!`) write it after its name."""
_NAME = re.compile(r"[\w.-]+")
"""As gates and the tables of reports name it."""


def read_queries(folder: Path, roots: Roots = ()) -> tuple[Scenario, ...]:
    """Returns the queries of a folder; those in folders below it are left alone.

    Raises SpecError for a folder without queries, too many, two of one name, a file that is too
    large or holds a password, and a file of parameters without its query.
    """
    files = _files(folder, roots)
    found: dict[str, Scenario] = {}
    for file in (one for one in files if one.suffix == ".sql"):
        for name, text in _queries_in(file, roots):
            if name in found:
                other = found[name].file
                raise Refusal("query-twice", name=name, other=other).in_file(str(file))
            calls = _CALLS_LINE.search(text)
            if calls is not None and _CALLS.fullmatch(calls[1]) is None:
                raise Refusal("query-calls-form", name=name).in_file(str(file))
            parameters = _parameters(name, folder, files)
            found[name] = Scenario(name, shown(file.name), text, 1.0, parameters=parameters)
    if not found:
        raise Refusal("no-queries", KEY).in_file(str(folder))
    if len(found) > MOST_QUERIES:
        raise Refusal("too-many-queries", KEY, count=len(found), most=MOST_QUERIES).in_file(
            str(folder)
        )
    for file in files:
        if file.suffix in SUFFIXES and file.stem not in found:
            raise Refusal("parameters-of-no-query", name=shown(file.stem)).in_file(str(file))
    return tuple(found[name] for name in sorted(found))


def calls_of(text: str) -> float | None:
    """Returns how often a query is called, as its text says; None where it says nothing."""
    found = _CALLS_LINE.search(text)
    return float(found[1]) if found else None


def _files(folder: Path, roots: Roots) -> list[Path]:
    if not may_read(folder, roots):
        raise Refusal("outside-of-the-folder", KEY).in_file(str(folder))
    try:
        return sorted(one for one in folder.iterdir() if one.is_file())
    except (OSError, ValueError):
        raise Refusal("no-query-folder", KEY).in_file(str(folder)) from None


def _queries_in(file: Path, roots: Roots) -> Iterator[tuple[str, str]]:
    """Name and text of each query of a file."""
    if file.stat().st_size > MOST_BYTES:
        raise Refusal("query-too-large", most_kb=MOST_BYTES // 1024).in_file(str(file))
    text = text_of(file, roots)
    line = sql_secret_line(text)
    if line is not None:
        raise Refusal("password-in-sql", line=line).in_file(str(file))
    if "\0" in text:
        raise Refusal("zero-byte-in-sql").in_file(str(file))
    marks = list(_NAME_LINE.finditer(text))
    if not marks:
        yield _checked(shown(file.stem), file), text
        return
    if not all(one.lstrip().startswith("--") for one in _lines(text[: marks[0].start()])):
        raise Refusal("query-before-names").in_file(str(file))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        yield _checked(_KIND.sub("", mark[1], count=1), file), text[mark.end() : end].strip("\r\n")


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _checked(name: str, file: Path) -> str:
    if _NAME.fullmatch(name) is None:
        raise Refusal("query-name-form", name=name).in_file(str(file))
    return name


def _parameters(name: str, folder: Path, files: Sequence[Path]) -> ParameterFile | None:
    found = [one for one in files if one.stem == name and one.suffix in SUFFIXES]
    if len(found) > 1:
        raise Refusal("two-parameter-files", name=name).in_file(str(folder))
    return parameter_file(found[0], "random") if found else None
