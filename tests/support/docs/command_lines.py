"""Lines of shell on a page: which commands they call, and whether pgassay would take them.

Enters: lines. Leaves: what is wrong with them. Never: runs one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

from tools.manual.pages import page_of
from typer.exceptions import TyperException

from pgassay.cli.commands import COMMANDS, load_command, named
from pgassay.cli.load.command import replacements
from pgassay.errors import PgassayError
from support.docs.pages import ROOT

_ENDS = {"|", "||", "&", "&&", ";", "(", ")"}
_BEFORE = {"sudo", "time", "nice", "env", "exec", "then", "do", "if", "!"}
_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def called(text: str) -> Iterator[list[str]]:
    """The simple commands of lines of shell, as words, without redirections."""
    for line in text.replace("\\\n", " ").splitlines():
        for inner in re.findall(r"\$\(([^()]+)\)", line):
            yield from called(inner)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.wordchars += "@:,{}^%$"
        words: list[str] = []
        skips = False
        for word in [*lexer, ";"]:
            if skips:
                skips = False
            elif word in _ENDS:
                if words:
                    yield words
                words = []
            elif set(word) <= set("<>&"):
                skips = True
                words = words[:-1] if words and words[-1].isdigit() else words
            elif words or (word not in _BEFORE and not re.match(r"[A-Za-z_]\w*=", word)):
                words.append(word)


def is_ours(words: list[str]) -> bool:
    """Whether a command can be tried: pgassay's, its manual, or a target of the Makefile."""
    return _program(words) in ("pgassay", "make") or _is_manual(words)


def _program(words: list[str]) -> str:
    return words[0].rpartition("/")[2]


def _is_manual(words: list[str]) -> bool:
    return words[0] == "man" and words[-1].startswith("pgassay")


def mistake(words: list[str]) -> str | None:
    """What pgassay, or make, would refuse in a command."""
    if _is_manual(words):
        known = ["pgassay", *map(page_of, COMMANDS)]
        return None if words[-1] in known else f"no such page: {words[-1]}"
    if _program(words) == "make":
        unknown = [one for one in words[1:] if "=" not in one and one not in _TARGETS]
        return f"no such target: {unknown}" if unknown else None
    name, *arguments = named(words[1:] or ["--help"])
    if name in ("--help", "--version", "-V"):
        return None
    if name not in COMMANDS:
        return f"no such command: {name}"
    if "--help" in arguments:
        return None
    try:
        load_command(name).make_context(name, arguments)
    except TyperException as error:
        return error.format_message()
    except PgassayError as error:
        return str(error)
    return None


@cache
def _options() -> frozenset[str]:
    """Every option of every command, and those of pgbench that `load` answers with a hint."""
    ours = [one for name in COMMANDS for one in load_command(name).params]
    names = [name for one in ours for name in (*one.opts, *one.secondary_opts)]
    return frozenset([*names, *replacements(), "--help", "--version"])


def unknown_options(span: str) -> list[str]:
    """The options among words within a sentence that no command has."""
    found = re.findall(r"(?:^|\s)(--[a-z][\w-]*|-[A-Za-z](?=\s|$))", span)
    return [one for one in found if one not in _options()]


def mistake_in_text(span: str) -> str | None:
    """As `mistake`, for words within a sentence: only the command and the names of options."""
    try:
        words = shlex.split(span)
    except ValueError:
        return "an open quote"
    if len(words) < 2 or words[1].startswith("-") or not re.fullmatch(r"[a-z]+", words[1]):
        return None
    name, *arguments = named(words[1:])
    if name not in COMMANDS:
        return f"no such command: {name}"
    parameters = load_command(name).params
    known = {name for one in parameters for name in (*one.opts, *one.secondary_opts, "--help")}
    options = [re.match(r"--?[\w-]*", word) for word in arguments]
    unknown = [one[0] for one in options if one and len(one[0]) > 1 and one[0] not in known]
    return f"no such option: {unknown}" if unknown else None
