"""The settings that `pgassay new` offers, with what is known of each.

Enters: the catalogue of a version, or a server's own pg_settings. Leaves: `Offer`s by name.
Never: changes a server; its session is read-only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pgassay.spec.secrets.redaction import hides
from pgassay.spec.settings.catalogue import CANNOT_VARY, entries_of, misfit, names

_TAKES = {
    "postmaster": "takes a restart",
    "sighup": "takes a reload",
    "backend": "takes new sessions",
    "superuser-backend": "takes new sessions",
    "superuser": "a superuser's session may set it",
    "user": "every session may set it",
}


@dataclass(frozen=True)
class Offer:
    """What is known of one setting that could be varied."""

    name: str
    vartype: str
    unit: str | None
    least: str | None
    most: str | None
    words: tuple[str, ...]
    context: str
    now: str = ""
    """Its present value on the server, if one was asked."""

    @property
    def about(self) -> str:
        """Type, range, what a change takes and the present value, in one line."""
        if self.words:
            kind = f"one of {', '.join(self.words)}"
        elif self.vartype in ("integer", "real"):
            kind = f"{self.vartype}{f' in {self.unit}' if self.unit else ''}"
            kind += f", {self.least} to {self.most}"
        else:
            kind = {"bool": "on or off", "string": "text"}[self.vartype]
        parts = [kind, _TAKES.get(self.context, "fixed")]
        return "; ".join([*parts, f"now {self.now}"] if self.now else parts)

    @property
    def is_variable(self) -> bool:
        """Returns whether an experiment may set the offered setting at all."""
        return self.context != "internal" and self.name not in CANNOT_VARY and not hides(self.name)

    def check(self, levels: Collection[str]) -> None:
        """Raises Refusal where the server would not take a level."""
        for level in levels:
            problem = misfit(level, self.unit, self.vartype, self.least, self.most, self.words)
            if problem is not None:
                raise problem

    def levels(self) -> list[str]:
        """Values to begin with; the present one is the baseline."""
        usual = [level for level in usual_levels().get(self.name, []) if level != self.now]
        if not usual or not self.now:
            return usual
        return [self.now, usual[-1]]


@cache
def usual() -> Mapping[str, Mapping[str, str | list[str]]]:
    """Returns the names of settings that are often varied."""
    return tomllib.loads((files(__package__) / "offered.toml").read_text("utf-8"))


def usual_levels() -> Mapping[str, list[str]]:
    """Returns values to begin with, by the name of a setting that is often varied."""
    return {name: list(table["levels"]) for name, table in usual().items()}


def of_version(major: int | None) -> dict[str, Offer]:
    """Returns what the catalogue says of a version's settings; without a version, what the newest
    one says."""
    found = {}
    for name in names(major):
        entry = entries_of(name, major)[-1]
        found[name] = Offer(
            name,
            entry["vartype"],
            entry.get("unit"),
            entry.get("min"),
            entry.get("max"),
            tuple(entry.get("enum", ())),
            entry["context"],
        )
    return found


def of_server(dsn: str) -> tuple[str, dict[str, Offer]]:
    """The server in a few words, and its settings; a TargetError where it cannot be asked."""
    from pgassay.server.connection.session import as_target_error, connect, resolve
    from pgassay.server.settings.values import read_settings, show

    parameters = resolve(dsn)
    with as_target_error("looking at the server"), connect(parameters) as session:
        session.execute("SET default_transaction_read_only = on")
        version = session.info.parameter_status("server_version") or "?"
        known = read_settings(session)
        shown = show(session, known)
    return f"PostgreSQL {version}, {parameters.label}", {
        name: Offer(
            name,
            one.vartype,
            one.unit,
            one.min_val,
            one.max_val,
            one.enumvals,
            one.context,
            "" if hides(name) else shown.get(name, ""),
        )
        for name, one in known.items()
    }


def search(offers: Mapping[str, Offer], word: str) -> list[tuple[str, str]]:
    """Names with what is said of each: of a word, all that have it; of none, the usual ones."""
    if not word:
        known = [(name, str(table["about"])) for name, table in usual().items() if name in offers]
        return [(name, _with_value(about, offers[name])) for name, about in known]
    return [
        (name, offer.about)
        for name, offer in sorted(offers.items())
        if word.lower() in name.lower() and offer.is_variable
    ]


def _with_value(about: str, offer: Offer) -> str:
    takes = _TAKES.get(offer.context)
    return "; ".join(part for part in (about, takes, offer.now and f"now {offer.now}") if part)
