"""libpq's connection parameters, for those who connect without libpq.

Enters: parameters by libpq's names, as one connection of libpq had them. Leaves: the engine's
words for them, libpq's own default files filled in. Never: drops one that matters in silence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import NotConnected

TLS = (
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "sslcrl",
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslcertmode",
    "sslsni",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "channel_binding",
)
KEEPALIVE = {
    "keepalives_idle": "idle_s",
    "keepalives_interval": "interval_s",
    "keepalives_count": "count",
    "tcp_user_timeout": "user_timeout_ms",
}
KEPT = (*TLS, "keepalives", *KEEPALIVE, "require_auth")

# libpq leaves it to the kernel, which notices a cut network or a machine without power after 15
# minutes of unanswered bytes, and in a quiet session after two hours. Here it takes a minute, with
# unanswered bytes five: a server that stops reading a COPY for so long is none to wait for.
NOTICED = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "300000",
}

# Files that libpq looks for where none is named.
DEFAULT_FILES = {
    "sslrootcert": "root.crt",
    "sslcrl": "root.crl",
    "sslcert": "postgresql.crt",
    "sslkey": "postgresql.key",
}

# What the engine has not: the values that would need it, and what to do instead.
MISSING = (
    ("sslcrldir", r".", "put the revocation lists into one file and name it with sslcrl"),
    ("sslcertmode", r"require", "leave it out"),
    ("sslkey", r"^(?!/)[^./]+:", "keys of an OpenSSL engine cannot be read; name a file"),
    ("sslkeylogfile", r".", "leave it out"),
    ("requirepeer", r".", "leave it out"),
    ("gssencmode", r"require", "use TLS instead: sslmode=require"),
    ("scram_client_key", r".", "give the password"),
    ("min_protocol_version", r"3\.[1-9]|latest", "the engine speaks 3.0; leave it out"),
    ("replication", r"^(?!0|false|off|no)", "leave it out"),
)

# Variables that libpq hands to the server as settings.
SETTING_VARIABLES = {"PGDATESTYLE": "datestyle", "PGTZ": "timezone", "PGGEQO": "geqo"}

FOREVER_S = 86400.0
"""libpq's 0 is no limit; a day is none either."""


def refuse_missing(options: Mapping[str, str]) -> None:
    """Raises an error for a connection parameter that libpq would honour and the load engine
    cannot."""
    for name, pattern, instead in MISSING:
        value = options.get(name, "")
        if value and re.search(pattern, value, re.IGNORECASE):
            raise NotConnected("parameter-not-supported", name=name, instead=instead)


def kept(options: Mapping[str, str], home: Path | None = None) -> dict[str, str]:
    """Returns those of libpq's parameters that shape a session, its default files by name, and how
    a server that is gone is noticed."""
    refuse_missing(options)
    found = {**NOTICED, **{name: options[name] for name in KEPT if options.get(name)}}
    folder = (home or Path.home()) / ".postgresql"
    for name, file in DEFAULT_FILES.items():
        found.setdefault(name, str(folder / file))
    return found


def connect_timeout_s(options: Mapping[str, str], default_s: float) -> float:
    """Returns libpq's `connect_timeout` in seconds."""
    given = options.get("connect_timeout")
    if not given:
        return default_s
    return float(given) if float(given) > 0 else FOREVER_S


def settings_of_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns what libpq sends of PGTZ and its like when a session starts: setting → value."""
    return {
        setting: environment[variable]
        for variable, setting in SETTING_VARIABLES.items()
        if environment.get(variable, "default").lower() != "default"
    }


def as_options(startup: Mapping[str, str]) -> str:
    """Settings of a session's start as the backend options of one that libpq opens, which sends
    those of the environment by itself."""
    sent = settings_of_environment()
    # The server splits options at white space that no backslash stands before.
    return " ".join(
        f"-c {setting}=" + re.sub(r"([\\\s])", r"\\\1", value)
        for setting, value in startup.items()
        if sent.get(setting) != value
    )


def for_engine(libpq: Mapping[str, str]) -> dict[str, Any]:
    """The `tls`, `keepalive` and `require_auth` of the engine's `connection` object."""
    tls: dict[str, Any] = {name: libpq[name] for name in TLS if libpq.get(name)}
    if "sslsni" in tls:
        tls["sslsni"] = tls["sslsni"] != "0"
    for name in ("ssl_min_protocol_version", "ssl_max_protocol_version"):
        if name in tls:
            tls[name] = tls[name].lower().replace("tls", "TLS")
    keepalive = {name: max(int(libpq[key]), 0) for key, name in KEEPALIVE.items() if libpq.get(key)}
    return {
        "tls": tls,
        "keepalive": {"enabled": libpq.get("keepalives") != "0", **keepalive},
        "require_auth": libpq.get("require_auth", ""),
    }
