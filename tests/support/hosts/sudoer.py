"""A temporary account of this machine that may use sudo without a password.

Enters: the environment variables that sudo keeps. Leaves: the name of the account, which is removed
afterwards with its rule. Never: changes another account or rule.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.packages import needs
from support.servers.lab import is_root

RULES = Path("/etc/sudoers.d")
RULE = """\
Defaults:{name} env_keep += "{kept}"
{name} ALL=(ALL) NOPASSWD: ALL
"""


@contextmanager
def sudoer(kept: str) -> Iterator[str]:
    """The name of the account; without root or without sudo the test is skipped."""
    if not is_root():
        pytest.skip("only root can make an account that may use sudo")
    needs("sudo")
    name = f"pgassay-t{os.getpid()}"
    rule = RULES / name
    # A locked password would also forbid ssh; this one only matches no password.
    subprocess.run(["useradd", "--no-create-home", "-s", "/bin/sh", "-p", "*", name], check=True)
    try:
        rule.touch(mode=0o440)
        rule.write_text(RULE.format(name=name, kept=kept))
        yield name
    finally:
        rule.unlink(missing_ok=True)
        subprocess.run(["userdel", "--force", name], check=True, capture_output=True)
