"""The help shows every option's text whole, brackets too."""

from __future__ import annotations

from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from pgassay.cli.commands import MODULES
from pgassay.cli.main import app

FRAMES = str.maketrans(dict.fromkeys("│╭╮╰╯─", " "))


def squeezed(text: str) -> str:
    """Without frames and line breaks, which depend on the terminal."""
    return "".join(text.translate(FRAMES).split())


def texts(name: str) -> list[str]:
    """What the module of a command says of its parameters."""
    own = typer.Typer(add_completion=False)
    import_module(f"pgassay.cli.{MODULES[name]}").register(own)
    command = typer.main.get_command(own)
    return [found for one in command.params if (found := getattr(one, "help", None))]


@pytest.mark.parametrize("name", MODULES)
def test_the_help_of_every_option_is_shown_whole(name: str) -> None:
    # Wide enough that no text is broken between columns.
    shown = CliRunner().invoke(app, [name, "--help"], terminal_width=400, env={"COLUMNS": "400"})
    assert shown.exit_code == 0
    told = squeezed(shown.output)
    assert [text for text in texts(name) if squeezed(text) not in told] == []
