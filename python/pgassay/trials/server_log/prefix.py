"""log_line_prefix, turned into a pattern.

Enters: the setting. Leaves: a compiled pattern with the fields it needs as named groups, or None
where lines under it have no time. Never: assumes a separator; only the setting's own text.
"""

from __future__ import annotations

import re

from pgassay.trials.server_log.entry import words

# Escapes → (name of the group where it is of use, what is written). Source: log_status_format in
# src/backend/utils/error/elog.c of PostgreSQL 13 to 18. Names of users, databases, applications
# and background workers are any text, cut at 63 (95) bytes; without a session they are empty. The
# bounds keep a hostile name from costing more than its own length.
_STAMP = r"\d{4,5}-\d\d-\d\d \d\d:\d\d:\d\d"
_FIELDS = {
    "a": ("application", r".{0,63}?"),
    "b": ("backend_type", r".{0,95}?"),
    "c": ("", r"[0-9a-f]+\.[0-9a-f]+"),
    "d": ("database", r".{0,63}?"),
    "e": ("sqlstate", r"[0-9A-Z]{5}"),
    "h": ("", r"\S{0,255}?"),
    "i": ("", r".{0,255}?"),
    "l": ("", r"\d+"),
    "L": ("", r"\S{0,255}?"),
    "m": ("stamp", _STAMP + r"\.\d{3} \S+"),
    "n": ("epoch", r"\d+\.\d{3}"),
    "p": ("pid", r"\d+"),
    "P": ("", r"\d*"),
    "Q": ("", r"-?\d+"),
    "r": ("", r"\S{0,255}?"),
    "s": ("", _STAMP + r" \S+"),
    "t": ("stamp", _STAMP + r" \S+"),
    "u": ("user", r".{0,63}?"),
    "v": ("", r"(?:-?\d+/\d+)?"),
    "x": ("", r"\d+"),
}
_ESCAPE = re.compile(r"%(-?\d*)(.)", re.DOTALL)
_TIMES = ("stamp", "epoch")


def line_pattern(setting: str) -> re.Pattern[str] | None:
    """What the first line of an entry looks like: prefix, `severity` or `further`, `message`.

    None where the prefix has none of %m, %t, %n: such a log cannot be put on a time axis.
    """
    pattern, seen, of_session = "", set[str](), 0
    position = 0
    for match in _ESCAPE.finditer(setting):
        pattern += re.escape(setting[position : match.start()])
        position = match.end()
        if match[2] == "%":
            pattern += "%"
        elif match[2] == "q":
            # Processes without a session stop here.
            pattern += "(?:(?P<session>)" if of_session == 0 else "(?:"
            of_session += 1
        elif match[2] in _FIELDS:
            pattern += _field(match[2], padded=bool(match[1].strip("-")), seen=seen)
    rest = setting[position:]
    pattern += re.escape(rest.removesuffix("%") if rest.endswith("%") else rest)
    if not seen.intersection(_TIMES):
        return None
    severities = "|".join(map(re.escape, words().severities))
    further = "|".join(map(re.escape, words().further))
    return re.compile(
        f"{pattern}{')?' * of_session}"
        rf"(?:(?P<severity>{severities}):  |(?P<further>{further}): )(?P<message>.*)",
        re.DOTALL | re.ASCII,
    )


def _field(letter: str, *, padded: bool, seen: set[str]) -> str:
    name, written = _FIELDS[letter]
    if name and name not in seen:
        seen.add(name)
        written = f"(?P<{name}>{written})"
    # Padding comes on either side, and alone where the field is empty.
    return f" *(?:{written})? *" if padded else f"(?:{written})"
