"""Settings that SQL sets by itself, by their names in its text, and what varies by itself.

Enters: scripts and other SQL, names of settings. Leaves: which of them it sets; functions that do;
the word by which an answer varies.
Never: runs anything: a name that is put together at run time is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import zip_longest

from pgassay.spec.workload.folder import Workload

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|^\s*\\[^\n]*", re.DOTALL | re.MULTILINE)
_BY_OTHER_WORDS = {
    "timezone": r"\bSET\s+(?:SESSION\s+|LOCAL\s+)?TIME\s+ZONE\b",
    "client_encoding": r"\bSET\s+NAMES\b",
    "default_transaction_isolation": r"\bISOLATION\s+LEVEL\b",
    "default_transaction_read_only": r"\bREAD\s+(?:ONLY|WRITE)\b",
    "default_transaction_deferrable": r"\bDEFERRABLE\b",
}
_FUNCTION = re.compile(
    r"\b(?:CREATE(?:\s+OR\s+REPLACE)?|ALTER)\s+(?:FUNCTION|PROCEDURE|ROUTINE)\s+"
    r'(?:[\w"]+\s*\.\s*)?"?(\w+)"?',
    re.IGNORECASE,
)

_QUOTED = re.compile(r"[^;$]*\$(\w*)\$.*?\$\1\$[^;]*", re.DOTALL)
_VARYING = re.compile(
    r"\b(random|random_normal|gen_random_uuid|uuidv[47]|clock_timestamp|timeofday|nextval)\s*\("
    r"|\bTABLESAMPLE\b(?!.*\bREPEATABLE\b)",
    re.IGNORECASE | re.DOTALL,
)


def varying_word_in(text: str) -> str:
    """Returns the first word by which SQL has another answer each time; empty where it has none."""
    found = _VARYING.search(_COMMENT.sub(" ", text))
    return "" if found is None else f"{found[1].lower()}()" if found[1] else "TABLESAMPLE"


def settings_in(text: str, names: Collection[str], *, resets: bool = False) -> set[str]:
    """Returns those of the names that this SQL sets, for a session or for less; with `resets` also
    those that it sets back, which matters where a value was set in the session."""
    bare = _COMMENT.sub(" ", text)
    back = bool(resets and re.search(r"\bRESET\s+ALL\b|\bDISCARD\s+ALL\b", bare, re.IGNORECASE))
    return {name for name in names if back or _sets(bare, name, resets=resets)}


def functions_in(*texts: str) -> dict[str, str]:
    """Returns, by the name of a function, the SQL that makes or alters it."""
    found: dict[str, str] = {}
    for text in texts:
        matches = list(_FUNCTION.finditer(text))
        for match, following in zip_longest(matches, matches[1:]):
            made = text[match.start() : following.start() if following else len(text)]
            quoted = _QUOTED.match(made)
            name = match[1].lower()
            found[name] = found.get(name, "") + (quoted[0] if quoted else made)
    return found


def with_functions(text: str, functions: Mapping[str, str]) -> str:
    """Returns SQL together with that of every function which it calls, also through others."""
    left, whole = dict(functions), text
    words = set(re.findall(r"\w+", text.lower()))
    while called := words & left.keys():
        bodies = " ;\n".join(left.pop(name) for name in called)
        whole += f" ;\n{bodies}"
        words = set(re.findall(r"\w+", bodies.lower()))
    return whole


def _sets(bare: str, name: str, *, resets: bool) -> bool:
    written = re.escape(name)
    ways = [
        rf"\bSET\s+(?:SESSION\s+|LOCAL\s+)?\"?{written}\"?\s*(?:=|TO\b|FROM\s+CURRENT\b)",
        rf"\bset_config\s*\(\s*(?:setting_name\s*(?:=>|:=)\s*)?(?:E?'|\$\w*\$){written}['$]",
    ]
    if name.lower() in _BY_OTHER_WORDS:
        ways.append(_BY_OTHER_WORDS[name.lower()])
    if resets:
        ways.append(rf"\bRESET\s+\"?{written}\"?(?![\w.])")
    return any(
        # A column of that name in UPDATE … SET is none.
        not re.search(r"\bUPDATE\b", bare[: match.start()].rpartition(";")[2], re.IGNORECASE)
        for way in ways
        for match in re.finditer(way, bare, re.IGNORECASE)
    )


def overriding(
    workload: Workload,
    names: Collection[str],
    functions: Mapping[str, str],
    *,
    in_sessions: bool = False,
) -> dict[str, list[str]]:
    """Returns the scenarios, by setting, whose script or a function that it calls sets it;
    `in_sessions` says that the experiment sets it in the load's sessions, so that setting it back
    counts too."""
    found: dict[str, list[str]] = {}
    for scenario in workload.scenarios:
        whole = with_functions(scenario.script, functions)
        for name in sorted(settings_in(whole, names, resets=in_sessions)):
            found.setdefault(name, []).append(scenario.name)
    return found
