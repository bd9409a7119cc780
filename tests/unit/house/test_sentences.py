"""No code reads a sentence that is made for people: codes and values decide, words are shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.docs.pages import ROOT

PACKAGE = ROOT / "python" / "pgassay"
MADE_OF_NOTES = frozenset(
    ("note", "caveat", "finding", "reason", "reasons", "warning", "warnings", "sentence", "refusal")
)
"""Names of what has a sentence, and of sentences."""
SHOWN = frozenset(("cell", "cells", "mark", "marks", "row", "rows", "span", "spans", "tip", "tips"))
"""Names of what holds words beside values."""
NUMBERS_AND_JOINTS = frozenset(("colon", "count", "decimals", "language", "localised", "spaced"))
"""Functions of the modules that write words whose result is no sentence and may be trimmed."""
READS = frozenset(
    {"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix"}
    | {"removesuffix", "find", "index", "count", "match", "search", "fullmatch", "sub", "findall"}
    | {"fromkeys", "replace", "setdefault", "strip", "lstrip", "rstrip"}
)


def writers() -> frozenset[str]:
    """Names of the functions that write numbers, lists and sentences for people."""
    functions = (
        node
        for module in ("language.py", "quantities.py", "report/tables/cells.py")
        for node in ast.parse((PACKAGE / module).read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.returns is not None
    )
    found = {one.name for one in functions if ast.unparse(one.returns or one) == "str"}
    return frozenset(found | {"plain_text"}) - NUMBERS_AND_JOINTS


WRITERS = writers()


def test_no_module_compares_cuts_or_matches_a_sentence() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in reading_of_sentences(
            ast.parse(path.read_text("utf-8")), has_tables="report" in path.parts
        )
    ]
    assert found == []


def test_what_reads_a_sentence_is_found() -> None:
    for bad in (
        "note.text == 'x'",
        "'checkpoint' in str(note)",
        "str(finding.note).partition(': ')",
        "re.search('[0-9]', caveat.text)",
        "finding.text.replace(' %', ' points')",
        "{str(error): error for error in found}",
        "groups[warning.text]",
        "known.setdefault(str(reason), reason)",
        "dict.fromkeys(str(note) for note in notes)",
        "_COLOURS[answer.badge]",
        "finding.heading == 'undecided'",
        "cell.text == other.text",
        "row.cells[at].text in ('', '–')",
        "mark.tip.partition(': ')",
        "points.tips[0].startswith('block')",
        "{tip[0]: 1 for tip in tips}",
        "row[at] not in ('', '–')",
        "row[0] == 'mean'",
        "span.text.split('(')",
        "(p := probability(value)).startswith('<')",
        "clock(low) == clock(high)",
        "plain_text(block.text).strip()",
        "marking.run(str, self).split(EDGE)",
        "str(self).split(EDGE)",
    ):
        assert list(reading_of_sentences(ast.parse(bad))), bad
    for good in (
        "note.code == 'x'",
        "note in notes",
        "', '.join(map(str, notes))",
        "a.text == 'x'",
        "{note: 1 for note in notes}",
        "{'text': str(note)}",
        "dict.fromkeys(one.claim for one in found)",
        "_COLOURS[answer.tone]",
        "cell.value is None",
        "cell == above",
        "dict.fromkeys(tip for tip in tips)",
        "row['cause'] == 'wal'",
        "decimals(value, '+.2g').removeprefix('+')",
    ):
        assert not list(reading_of_sentences(ast.parse(good))), good


def reading_of_sentences(module: ast.Module, *, has_tables: bool = True) -> Iterator[ast.expr]:
    """Yields comparisons of sentences, calls that cut or match one, and keys that are sentences; a
    row is one of a table, whose cells are words, only in a module that has tables."""
    for node in ast.walk(module):
        match node:
            case ast.Compare():
                read = [node.left, *node.comparators]
            case ast.Call(func=ast.Attribute(value=on, attr=called), args=given) if called in READS:
                read = [
                    on,
                    *(one.elt if isinstance(one, ast.GeneratorExp) else one for one in given),
                ]
            case ast.DictComp(key=key) | ast.Subscript(slice=key):
                read = [key]
            case _:
                continue
        errors = isinstance(node, ast.DictComp) and ast.unparse(read[0]) == "str(error)"
        if errors or any(map(_is_sentence, read)) or (has_tables and any(map(_is_cell, read))):
            yield node


def _is_sentence(node: ast.expr) -> bool:
    """Whether it is the text of something that has one by its name, a badge, a heading, a line of a
    tip, or what a function has written."""
    match node:
        case ast.NamedExpr(value=inner):
            return _is_sentence(inner)
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _named(inner) in MADE_OF_NOTES | {"self"}
        case ast.Call(func=ast.Name(id=name)):
            return name in WRITERS
        case ast.Call(args=[ast.Name(id="str"), *_]):
            return True
        case ast.Attribute(attr="badge" | "heading" | "tip"):
            return True
        case ast.Attribute(value=inner, attr="text" | "sentence"):
            return _named(inner) in MADE_OF_NOTES | SHOWN
        case ast.Subscript(value=inner):
            return _named(inner) in ("tip", "tips")
    return False


def _is_cell(node: ast.expr) -> bool:
    """Whether it is a cell of a row by its place; a key is of a row that has values."""
    match node:
        case ast.Subscript(value=inner, slice=ast.Constant(value=int()) | ast.Name(id="at")):
            return _named(inner) == "row"
    return False


def _named(node: ast.expr) -> str:
    """The name of a value, or of what it is an element of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "id", getattr(node, "attr", ""))
