"""The messages in the package's modules and TOML files.

Enters: the package's folder, messages.toml. Leaves: `Msg`s, sorted. Never: shows a report.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import texts_of
from pgassay.language import Message, messages_of
from pgassay.note_catalogues import REFUSALS, catalogue

PACKAGE = Path(__file__).parents[2] / "python" / "pgassay"
_RULES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "messages.toml").read_text("utf-8"))


class Msg(NamedTuple):
    """One message of the catalogue."""

    text: str
    plural: str = ""
    context: str = ""


def all_messages() -> list[Msg]:
    """Every message once, in alphabetical order."""
    found = {*_of_modules(), *_of_findings(), *_of_notes_and_files()}
    plurals = {one.text for one in found if one.plural}
    return sorted(one for one in found if one.plural or one.context or one.text not in plurals)


def _of_modules() -> Iterator[Msg]:
    """The first texts of the calls `tr`, `ntr` and those that messages.toml names, and the texts of
    the TOML files that `messages_of` and `terms_of` read."""
    takers: dict[str, list[int | str]] = _RULES["calls"]
    yield from map(Msg, _RULES["more"]["texts"])
    yield from (Msg(str.__str__(one.title)) for one in METRICS.values())
    for more in _RULES["keys"]:
        yield from (Msg(text, context=more["context"]) for text in more["texts"])
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name in _RULES["enums"]:
                values = [one.value for one in node.body if isinstance(one, ast.Assign)]
                yield from (Msg(text) for text in _constants(values))
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name == "ntr":
                yield Msg(_constant(node.args[0], path), _constant(node.args[1], path))
            elif name == "map" and getattr(node.args[0], "id", "") == "Message":
                yield from (Msg(text) for text in _constants(node.args[1:]))
            elif isinstance(node.func, ast.Name) and name in ("messages_of", "terms_of"):
                yield from _of_table(node, path)
            elif name == "numbers":
                yield from (Msg(text) for text in _constants(node.args))
            elif name in takers:
                context = next((k.value for k in node.keywords if k.arg == "context"), None)
                given_as: dict[int | str | None, ast.expr] = dict(enumerate(node.args))
                given_as |= {keyword.arg: keyword.value for keyword in node.keywords}
                for at in takers[name]:
                    given = given_as.get(at)
                    texts = _constants([given] if given is not None else [])
                    of = "".join(_constants([context] if context is not None else []))
                    yield from (Msg(text, context=of) for text in texts)


def _constant(node: ast.expr, path: Path) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise SystemExit(f"{path}:{node.lineno}: ntr takes two literal texts")


def _constants(nodes: list[ast.expr]) -> Iterator[str]:
    """The texts of literals, also of both branches of a condition and of tuples."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if any(map(str.isalpha, node.value)):
                yield node.value
        elif isinstance(node, ast.IfExp):
            yield from _constants([node.body, node.orelse])
        elif isinstance(node, ast.Tuple | ast.List):
            yield from _constants(node.elts)


def _of_table(node: ast.Call, path: Path) -> Iterator[Msg]:
    names = _constants(list(_inside(node.args[0])))
    if file := next((name for name in names if name[1:].endswith(".toml")), ""):
        table = tomllib.loads((path.parent / file).read_text("utf-8"))
        keys = tuple(_constants(node.args[1:]))
        besides = tuple(_constants([k.value for k in node.keywords]))
        yield from _texts(messages_of(table, keys, besides=besides))


def _of_findings() -> Iterator[Msg]:
    """The texts of TOML files that `texts_of` reads."""
    for path in (PACKAGE / "findings").rglob("*.toml"):
        module = ".".join(("pgassay", *path.relative_to(PACKAGE).with_suffix("").parts))
        if path.parent.name != "rules" and path.name != "notes.toml":
            yield from _texts(texts_of(module))


def _of_notes_and_files() -> Iterator[Msg]:
    """The sentences of notes and refusals, and the texts of files that messages.toml names."""
    for path in PACKAGE.rglob("notes.toml"):
        for entry in tomllib.loads(path.read_text("utf-8")).values():
            text, one = entry["text"], entry.get("one", "")
            if _has_words(text):
                yield Msg(one, text) if one else Msg(text)
    for name in _RULES["refusals"]:
        for code in tomllib.loads((PACKAGE / "refusals" / name).read_text("utf-8")):
            if _has_words(text := catalogue(REFUSALS)[code]["text"]):
                yield Msg(text)
    for rule in _RULES["file"]:
        for path in PACKAGE.glob(rule["name"]):
            found = messages_of(tomllib.loads(path.read_text("utf-8")), rule["keys"])
            yield from _texts(found, rule.get("before", ""))


def _has_words(text: str) -> bool:
    """Whether there is more than places; stops, commas and colons are others in Chinese."""
    return any(re.search(r"[^\W\d_]|[.,:;]", words) for words, *_ in Formatter().parse(text))


def _inside(node: ast.expr) -> Iterator[ast.expr]:
    yield from (each for each in ast.walk(node) if isinstance(each, ast.Constant))


def _texts(table: Any, before: str = "") -> Iterator[Msg]:
    """The messages in a table."""
    if isinstance(table, Message):
        if any(map(str.isalpha, table)):
            yield Msg(before + str(table))
    elif isinstance(table, dict | list):
        for one in table.values() if isinstance(table, dict) else table:
            yield from _texts(one, before)
