"""Times as a server's log writes them.

Enters: text such as `2026-01-31 14:25:01.123 MSK`, and what the zone's abbreviations mean.
Leaves: nanoseconds of Unix time. Never: guesses a zone; an unknown one is no time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

_STAMP = re.compile(
    r"(\d{4,5})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\S+))?", re.ASCII
)
_NUMERIC = re.compile(r"([+-])(\d\d):?(\d\d)?(?::?(\d\d))?", re.ASCII)
_ALWAYS = {"UTC": 0, "GMT": 0, "Z": 0, "UCT": 0}


class LogClock:
    """Reads the time stamps of one log.

    `abbreviations` are those of log_timezone in the course of a year, each with its seconds east
    of Greenwich, as the server itself reports them.
    """

    def __init__(self, abbreviations: Mapping[str, int] | None = None) -> None:
        self._known = {**_ALWAYS, **{n.upper(): s for n, s in (abbreviations or {}).items()}}
        self._second = lru_cache(maxsize=64)(self._whole_second)

    def stamp_ns(self, text: str) -> int | None:
        """Returns a time with its zone as nanoseconds of Unix time; None where either is
        unknown."""
        match = _STAMP.fullmatch(text.strip())
        if match is None:
            return None
        whole = self._second(match[0][: match.end(6)], match[8] or "")
        if whole is None:
            return None
        return whole * 10**9 + int((match[7] or "0").ljust(9, "0"))

    def _whole_second(self, text: str, zone: str) -> int | None:
        east = self._known.get(zone.upper())
        if east is None:
            east = _numeric(zone)
        if east is None:
            return None
        try:
            moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        except ValueError:
            return None
        return int(moment.timestamp()) - east


def epoch_ns(text: str) -> int:
    """Returns `%n` of log_line_prefix as nanoseconds of Unix time: seconds with milliseconds."""
    seconds, _, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0")[:9])


def _numeric(zone: str) -> int | None:
    """Zones without a name are written as their offset: +04, -0330."""
    match = _NUMERIC.fullmatch(zone)
    if match is None:
        return None
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return seconds if match[1] == "+" else -seconds
