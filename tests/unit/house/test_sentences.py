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
    | {"fromkeys", "replace", "setdefault"}
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
        "finding.text.replace(' %', ' points')",
        "{str(error): error for error in found}",
        "groups[warning.text]",
        "known.setdefault(str(reason), reason)",
        "dict.fromkeys(str(note) for note in notes)",
        "_COLOURS[answer.badge]",
        "finding.heading == 'undecided'",
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
    ):
        assert not list(reading_of_sentences(ast.parse(good))), good


def reading_of_sentences(module: ast.Module) -> Iterator[ast.expr]:
    """Yields comparisons of sentences, calls that cut or match one, and keys that are sentences."""
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
        if errors or any(map(_is_sentence, read)):
            yield node


def _is_sentence(node: ast.expr) -> bool:
    """Whether it is `str(note)` or `note.text` of something that has a sentence by its name, or a
    badge or heading."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _named(inner) in MADE_OF_NOTES
        case ast.Attribute(attr="badge" | "heading"):
            return True
        case ast.Attribute(value=inner, attr="text" | "sentence"):
            return _named(inner) in MADE_OF_NOTES
    return False


def _named(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))
