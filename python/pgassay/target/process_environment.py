"""The environment of a process, to start another one with it.

Enters: a host, a process. Leaves: what it was started with, by name; the same as a script that a
shell reads; the part of it that may be kept in a file. Never: puts a value on a command line, or
into a file where it may be a secret.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from pgassay.spec.redaction import redacted
from pgassay.target.host import Host

Environment = Mapping[str, str]
"""Bytes that are no text are kept as `os.fsdecode` keeps them."""

STARTED_FOR = "PGASSAY_STARTED_FOR"
"""The change by which a run started a server that it found stopped."""
PLAIN: Environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
"""For a server of which nothing is known: little, and none of it ours."""
# What a server, its libraries and the commands that it calls go by, and what is no secret by its
# meaning. A list of what may be kept, for a secret can have any name.
_KEEPABLE = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|TZ|TZDIR|LANG|LANGUAGE|LC_\w+|LOCPATH|NLSPATH"
    r"|LD_\w+|MALLOC_\w+|GLIBC_TUNABLES|ICU_DATA|OPENSSL_CONF|OPENSSL_MODULES|SSL_CERT_(?:FILE|DIR)"
    r"|PG_OOM_ADJUST_(?:FILE|VALUE)|PGPORT|PGDATESTYLE|PGCLIENTENCODING|KRB5_CONFIG|KRB5_KTNAME"
    r"|PERL5LIB|PYTHONHOME|PYTHONPATH|TCLLIBPATH"
)
# What pg_ctl and shells set anew, and what is of the terminal of whoever started it.
_NO_LOSS = re.compile(
    r"PGDATA|PGLOCALEDIR|PGSYSCONFDIR|PG_GRANDPARENT_PID|OLDPWD|SHLVL|_|TERM|COLORTERM|COLUMNS|LINES"
    rf"|DISPLAY|HOSTNAME|MAIL|LESS\w*|LS_COLORS|SSH_\w+|SUDO_\w+|XDG_\w+|{STARTED_FOR}"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Where sh is bash, they cannot be set, and an attempt ends it.
_OF_THE_SHELL = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"})
_SET_BY_SHELLS = ("OLDPWD", "PWD", "SHLVL")


def environment_of(host: Host, pid: int) -> Environment | None:
    """What a process was started with; None where that is not ours to read."""
    try:
        words = host.read(Path(f"/proc/{pid}/environ")).split(b"\0")
    except OSError:
        return None
    pairs = (os.fsdecode(word).partition("=") for word in words)
    return {name: value for name, equals, value in pairs if name and equals}


def keepable(environment: Environment) -> tuple[dict[str, str], list[str]]:
    """What of it may be kept in a file of ours, and the names of what a server may miss then."""
    kept = {
        name: value
        for name, value in environment.items()
        if _KEEPABLE.fullmatch(name) and _is_text(value) and redacted(value) == value
    }
    rest = sorted(name for name in environment if name not in kept)
    return kept, [name for name in rest if _NAME.fullmatch(name) and not _NO_LOSS.fullmatch(name)]


def as_script(environment: Environment) -> str:
    """For a POSIX shell that has nothing yet: it exports these, then becomes its arguments.

    ASCII alone, whatever the locale of whoever passes it on. Names that a shell cannot have are
    left out.
    """
    lines = [
        _export(name, value)
        for name, value in environment.items()
        if _NAME.fullmatch(name) and name not in _OF_THE_SHELL
    ]
    own = [name for name in _SET_BY_SHELLS if name not in environment]
    return "\n".join([*lines, *(f"unset {name}" for name in own), 'exec "$@" </dev/null', ""])


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _export(name: str, value: str) -> str:
    if value.isascii() and value.replace("\n", "").isprintable():
        return f"export {name}={shlex.quote(value)}"
    octal = "".join(f"\\{byte:03o}" for byte in os.fsencode(value))
    # A substitution loses new lines at its end, so a letter stands behind them meanwhile.
    return f"{name}=$(printf '{octal}x'); export {name}=\"${{{name}%x}}\""
