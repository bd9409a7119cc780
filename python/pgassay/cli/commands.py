"""The subcommands, each loaded when it is asked for.

Enters: the name of a command. Leaves: the command. Never: loads another one beside it, unless all
are listed or the name is not known: statistics and reports take a second to load, which a load or
a recovery need not wait for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

MODULES = {
    "demo": "demo", "run": "run", "plan": "plan", "report": "report", "load": "load",
    "init": "init", "observe": "observe", "list": "listing", "show": "show",
    "doctor": "doctor", "recover": "recover", "schema": "schema",
}  # fmt: skip
"""Name → module of this package, in the order of the help."""


class Commands(TyperGroup):
    """Finds the commands of `MODULES`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in MODULES and cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in MODULES:
            for name in MODULES:  # what was meant is looked for among those that are loaded
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _loaded(name: str) -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    import_module(f"pgassay.cli.{MODULES[name]}").register(app)
    command: Any = typer.main.get_command(app)
    command.name = name
    return command
