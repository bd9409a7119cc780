"""The commands of `pgassay`: a table of names, and a group that loads only the one asked for.

Enters: the name of a command. Leaves: the command, ready to be run. Never: loads a command for the
list of commands in `pgassay --help`, which needs their names and sentences alone.

A command is a function of the same name in a module that may name a typer class, `COMMAND_CLASS`.
A name of two words, such as `observe compare` of `observe.compare:compare`, is a command of its own
beside `observe`, which takes any other first word as its argument.
The sentence here must be the first line of the function's docstring; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from pgassay.cli.terminal.elsewhere import Redirecting

COMMANDS = {
    "demo": ("demo", "Run a short experiment on a temporary server, to see what pgassay does."),
    "study": ("study.command", "Look at ready experiments on known questions, and run them."),
    "new": ("new.command", "Write an experiment file, by a few questions or by flags."),
    "run": ("run.command", "Run an experiment and report its verdict."),
    "plan": ("plan.command", "Show what `run` would do: arms, order, changes, time and risks."),
    "queries": (
        "queries.command",
        "Run a folder of queries under each arm: which get faster, which slower.",
    ),
    "report": ("report", "Analyse a stored run again and write its report."),
    "compare": ("compare", "Compare stored runs that were made apart, not randomised together."),
    "history": ("history", "Show how runs of one experiment changed over weeks, and since when."),
    "draw": (
        "draw.command",
        "Draw a workload from a running server's statistics or from its log.",
    ),
    "load": ("load.command", "Put one load on a server, with pgbench's options and scripts."),
    "init": ("init", "Make pgbench's tables, with pgbench's options."),
    "observe": ("observe.command", "Record what a running server does, without changing it."),
    "observe compare": (
        "observe.compare:compare",
        "Compare two observations, or two periods of one: what differs by more than usual.",
    ),
    "observe incidents": (
        "observe.incidents:incidents",
        "Find incidents in an observation: when, how large, what began first.",
    ),
    "profile": (
        "profile.command",
        "Show by function where a server on this host spends CPU time: flame graphs, by perf.",
    ),
    "trace": (
        "trace.command",
        "Trace lock waits, checkpoints, I/O and WAL in a running server.",
    ),
    "list": ("list:list_runs", "List the runs in a folder: date, state, verdict and effect."),
    "rm": ("rm", "Remove stored runs, observations, traces and profiles."),
    "show": ("show.command", "Show a stored run: its trials, its verdict and why."),
    "sql": (
        "sql.command",
        "Ask stored runs by SQL: verdicts, trials, metrics, waits, counters, settings.",
    ),
    "doctor": ("doctor", "Check this machine, and a server if one is named."),
    "recover": ("recover", "Undo what a killed run left changed on its server."),
    "completion": (
        "completion",
        "Print the script that lets a shell complete commands, options and files.",
    ),
    "schema": ("schema", "Print the JSON Schema of experiment files, or of JSON output."),
}
"""Name → module (`:function` under another name) and sentence, in the order of the help."""


class Commands(TyperGroup):
    """The group of all commands of pgassay, each of which is imported when it is run."""

    def __init__(self, **options: Any) -> None:
        named = {
            name: TyperCommand(name, help=sentence, params=[])
            for name, (_, sentence) in COMMANDS.items()
        }
        super().__init__(**{**options, "commands": named})
        _shorten_help(self)

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names; for a shell that completes a word, those of one word."""
        names = super().list_commands(ctx)
        return [name for name in names if " " not in name] if ctx.resilient_parsing else names

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Imports the command that was asked for, then resolves it as usual; `help COMMAND` is the
        help of that command, and `help` alone that of all."""
        if args[:1] == ["help"]:
            if not args[1:]:
                typer.echo(ctx.get_help())
                ctx.exit()
            args = [*args[1:], "--help"]
        args = named(args)
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)


def named(words: list[str]) -> list[str]:
    """Returns the words of a command line with the command's name, which may be two, as one."""
    together = " ".join(words[:2])
    return [together, *words[2:]] if together in COMMANDS else words


def load_command(name: str) -> Any:
    """Imports a command's module and makes its command."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    module, _, function = COMMANDS[name][0].partition(":")
    found = import_module(f"pgassay.cli.{module}")
    app.command(name, cls=getattr(found, "COMMAND_CLASS", Redirecting))(
        vars(found)[function or name]
    )
    command: Any = typer.main.get_command(app)
    command.name = name
    for part in (command, *command.params):
        if part.help:
            part.help = escape(part.help)  # rich reads [pgassay-runs/…] as markup
    _shorten_help(command)
    return command


def _shorten_help(command: Any) -> None:
    """Show no type beside a flag, for which typer shows <bool>, and <str> for <list[str]>."""
    for option in (*command.params, command.get_help_option(typer.Context(command))):
        if getattr(option, "is_flag", False):
            option.metavar = ""
        elif getattr(option, "count", False):
            option.metavar, option.show_default = "", False
        elif getattr(option, "multiple", False):
            option.metavar = "<str>"
