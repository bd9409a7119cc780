"""The page of all commands: what `--help` says of each, as Markdown.

Enters: the commands as the manual pages describe them, and what these say beside. Leaves: a page's
text. Never: says of an option what its help does not say.
"""

from __future__ import annotations

import html
import tomllib
from collections.abc import Mapping
from typing import Any

from tools.manual.pages import HERE as MANUAL
from tools.manual.pages import described

from pgassay.cli.commands import COMMANDS, load_command

_HEAD = """# Commands

This page lists every command with its arguments, options and defaults, as `pgassay COMMAND --help`
shows them. Results go to stdout, progress to stderr.
"""


def commands_page() -> str:
    """The page, with the commands in the order of `pgassay --help`."""
    texts = tomllib.loads((MANUAL / "texts.toml").read_text("utf-8"))
    parts = [_HEAD]
    for name in COMMANDS:
        found = described(load_command(name), f"pgassay {name}")
        parts += _command(found, texts["examples"].get(name, []))
    for title, key in (
        ("Exit codes", "exit_status"),
        ("Environment variables", "environment"),
        ("Files", "files"),
    ):
        parts += [f"## {title}\n", *_table(title, texts[key]), ""]
    return "\n".join(parts)


def _command(found: Mapping[str, Any], examples: list[Mapping[str, str]]) -> list[str]:
    parts = [f"## `{found['name']}`\n", f"{found['sentence']}.\n", found["more"], ""]
    parts += ["```text", f"{found['name']} {found['usage']}", "```", ""]
    for one in examples:
        parts += [one["about"], "", "```sh", one["run"], "```", ""]
    for panel, entries in found["entries"].items():
        parts += [*_table(panel, dict(entries)), ""]
    return parts


def _table(title: str, rows: Mapping[str, str]) -> list[str]:
    shown = [f"| <code>{_inert(name)}</code> | {_inert(text)} |" for name, text in rows.items()]
    return [f"| {title} | |", "|---|---|", *shown]


def _inert(text: str) -> str:
    """Text in which nothing is a mark of Markdown or HTML."""
    shown = html.escape(" ".join(text.split()))
    for mark in "|*_[`\\~":
        shown = shown.replace(mark, f"&#{ord(mark)};")
    return shown
