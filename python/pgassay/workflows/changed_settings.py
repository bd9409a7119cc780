"""Which settings somebody changed while a server is observed.

Enters: an observed server, how it was described last. Leaves: the changes since then, and how it
is described now. Never: waits long for a server that is away, changes anything, or stores a value
that may be a secret.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pgassay.errors import TargetError
from pgassay.samples.forms.environment import Server
from pgassay.samples.forms.observation import ChangedSetting
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.protocol import ServerFacts
from pgassay.trials.environment.description import describe_server
from pgassay.trials.observing import ANSWERS_WITHIN_S

MOST = 500
"""Changes that an observation keeps, the latest."""


def look_again(
    server: ObservedServer, facts: ServerFacts, known: Server, *, since_ns: int, now_ns: int
) -> tuple[dict[str, Any], tuple[ChangedSetting, ...]]:
    """Returns the server as environment.json describes it now, and what was changed; nothing of
    either where it does not answer."""
    try:
        settings, configured_ns = server.settings(lasts_s=ANSWERS_WITHIN_S)
    except TargetError:
        return {}, ()
    found = describe_server(replace(facts, settings=settings))
    at_ns = configured_ns if since_ns <= configured_ns <= now_ns else now_ns
    return found, changes_between(known, Server.model_validate(found), at_ns)


def changes_between(before: Server, after: Server, at_ns: int) -> tuple[ChangedSetting, ...]:
    """Returns the settings that both have and that are not the same, by name."""
    both = sorted(before.every_setting.keys() & after.every_setting.keys())
    return tuple(
        ChangedSetting(at_ns=at_ns, name=name, first=first, second=second)
        for name in both
        if (first := before.value_of(name) or "") != (second := after.value_of(name) or "")
    )
