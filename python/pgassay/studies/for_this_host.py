"""Fill in the sizes of an experiment file that depend on this host.

Enters: the text of an experiment file with `{{ memory(0.5) }}`. Leaves: the text with sizes, or a
SpecError. Never: looks at anything but how much memory a process here may have.

`memory(share)` is the size of a setting, such as 4096MB; `megabytes(share)` is the bare number, for
arithmetic: at scale `{{ megabytes(1.25) // 15 }}` pgbench's tables take 1.25 of memory.
"""

from __future__ import annotations

import os

from jinja2 import Environment, StrictUndefined, TemplateError

from pgassay.refusals.refusal import Refusal, SetupRefused
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.hosts.local import HERE


def for_this_host(text: str, *, file: str) -> str:
    """Returns the text with the sizes that fit this host filled in."""
    environment = Environment(  # noqa: S701 - TOML, not HTML; the templates are our own
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    try:
        return environment.from_string(text).render(memory=_memory, megabytes=_megabytes)
    except TemplateError as error:
        raise Refusal("size-not-filled-in", why=error).in_file(file) from None


def _memory(share: float) -> str:
    return f"{_megabytes(share)}MB"


def _megabytes(share: float) -> int:
    found = memory_of(HERE, os.getpid())
    if found is None:
        raise SetupRefused("memory-unknown")
    return max(int(share * found) >> 20, 1)
