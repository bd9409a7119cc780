"""No code reads a sentence that is made for people: codes and values decide, words are shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.docs.pages import ROOT

MADE_OF_NOTES = frozenset(
    ("note", "caveat", "finding", "reason", "reasons", "warning", "warnings", "sentence", "refusal")
)
"""Names of what has a sentence, and of sentences."""
READS = frozenset(
    {"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix"}
    | {"removesuffix", "find", "index", "count", "match", "search", "fullmatch", "sub", "findall"}
)


def test_no_module_compares_cuts_or_matches_a_sentence() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted((ROOT / "python" / "pgassay").rglob("*.py"))
        for node in reading_of_sentences(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def test_what_reads_a_sentence_is_found() -> None:
    for bad in (
        "note.text == 'x'",
        "'checkpoint' in str(note)",
        "str(finding.note).partition(': ')",
        "re.search('[0-9]', caveat.text)",
    ):
        assert list(reading_of_sentences(ast.parse(bad))), bad
    for good in (
        "note.code == 'x'",
        "note in notes",
        "', '.join(map(str, notes))",
        "a.text == 'x'",
    ):
        assert not list(reading_of_sentences(ast.parse(good))), good


def reading_of_sentences(module: ast.Module) -> Iterator[ast.expr]:
    """The comparisons of sentences, and the calls that cut or match one."""
    for node in ast.walk(module):
        if isinstance(node, ast.Compare):
            if any(map(_is_sentence, (node.left, *node.comparators))):
                yield node
            continue
        match node:
            case ast.Call(func=ast.Attribute(value=on, attr=called), args=given):
                if called in READS and any(map(_is_sentence, (on, *given))):
                    yield node


def _is_sentence(node: ast.expr) -> bool:
    """Whether it is `str(note)` or `note.text` of something that has a sentence by its name."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _named(inner) in MADE_OF_NOTES
        case ast.Attribute(value=inner, attr="text" | "sentence"):
            return _named(inner) in MADE_OF_NOTES
    return False


def _named(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))
