"""The page of all commands: what `--help` says of each, as Markdown.

Enters: the commands that are installed. Leaves: a page's text. Never: says of an option what its
help does not say.
"""

from __future__ import annotations

import html
from collections import defaultdict
from typing import Any

import typer

from pgassay.cli.commands import COMMANDS, load_command
from pgassay.errors import ExitCode

_HEAD = """# Commands

For whoever looks up an option: every command with its arguments, options and defaults, as
`pgassay COMMAND --help` shows them. Results go to stdout, progress to stderr.
"""


def commands_page() -> str:
    """The page, with the commands in the order of `pgassay --help`."""
    return "\n".join([_HEAD, *map(_command, COMMANDS), _exit_codes()])


def _command(name: str) -> str:
    command = load_command(name)
    context = typer.Context(command, info_name=f"pgassay {name}")
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"## `pgassay {name}`\n", _plain(command.help), "", f"```text\n{usage}\n```"]
    panels: dict[str, list[Any]] = defaultdict(list)
    for one in command.params:
        kind = "Options" if one.param_type_name == "option" else "Arguments"
        if not getattr(one, "hidden", False):
            panels[getattr(one, "rich_help_panel", None) or kind].append(one)
    for panel, members in panels.items():
        rows = [_row(one.get_help_record(context)) for one in members]
        parts += ["", f"| {panel} | |", "|---|---|", *rows]
    return "\n".join([*parts, ""])


def _row(record: tuple[str, str]) -> str:
    names, text = (html.escape(_plain(part)).replace("|", "&#124;") for part in record)
    for mark in "*_[`\\":
        text = text.replace(mark, f"&#{ord(mark)};")
    return f"| <code>{names}</code> | {' '.join(text.split())} |"


def _exit_codes() -> str:
    rows = [f"| {code.value} | {code.meaning} |" for code in ExitCode]
    return "\n".join(["## Exit codes\n", "| code | |", "|---|---|", *rows, ""])


def _plain(text: str) -> str:
    return text.replace("\\[", "[")  # `load_command` escapes brackets for rich
