"""`pgassay completion SHELL`: the script that makes a shell complete pgassay's commands.

Enters: the name of a shell. Leaves: its script on stdout. Never: writes into anybody's files; the
shell that completes calls pgassay back, which `completes` recognises.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

PROGRAM = "pgassay"
VARIABLE = "_PGASSAY_COMPLETE"
"""Set by the scripts; typer makes its name of the program's."""

_ZSH_FROM_A_FILE = '[[ $zsh_eval_context[-1] != loadautofunc ]] || _pgassay_completion "$@"'


class Shell(StrEnum):
    """The shells for which there is a completion script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell: bash, zsh or fish.")],
) -> None:
    """Print the script that lets a shell complete commands, options and files.

    For one session: eval "$(pgassay completion bash)". A package installs these scripts
    where shells look for them.
    """
    typer.echo(script(shell))


def script(shell: Shell) -> str:
    """Returns the completion script of a shell."""
    from typer._completion_classes import completion_init
    from typer._completion_shared import get_completion_script

    completion_init()
    text = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value)
    # zsh runs a file of its search path at the first TAB, as if it were the function.
    return f"{text}\n{_ZSH_FROM_A_FILE}" if shell is Shell.ZSH else text


def prepare() -> None:
    """Lets typer answer where a shell asks for completions; does nothing otherwise."""
    if VARIABLE in os.environ:
        os.environ["COLUMNS"] = "1000"  # a line each: fish takes a second one for an option
        from typer._completion_classes import completion_init

        completion_init()
