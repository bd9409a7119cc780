"""Gather the answers: from flags, from questions on a terminal, else from defaults.

Enters: what flags say, whether anybody is asked. Leaves: checked `Answers` and the settings that
are known. Never: asks what a flag has said, or changes anything on a server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pgassay.cli.new import answers as check
from pgassay.cli.new import terminal
from pgassay.cli.new.answers import Answers
from pgassay.cli.new.file_text import fits_sessions
from pgassay.cli.new.offered import Offer, of_server, of_version, search
from pgassay.cli.terminal.console import err, plain
from pgassay.errors import PgassayError
from pgassay.plan.modes import SWITCHBACK
from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.workload.folder import load_workload, ready_workloads

Value = TypeVar("Value")
VERSIONS = {"16": 16, "18": 18}
DEFAULTS = {
    "workload": "payments-write",
    "scale": "10",
    "clients": "8",
    "step": "60s",
    "effect": "2%",
}
_FLAGS = {"effect": "--smallest-effect", "server": "--dsn"}


@dataclass
class Given:
    """What the flags of `pgassay new` say; None where one is not given."""

    dsn: str | None = None
    postgres: str | None = None
    connect: bool | None = None
    allow_changes: bool | None = None
    vary: list[str] = field(default_factory=list)
    workload: str | None = None
    scale: str | None = None
    clients: str | None = None
    step: str | None = None
    effect: str | None = None
    question: str | None = None


@dataclass
class Gathering:
    """One pass through the questions, of which flags answer some."""

    given: Given
    beside: Path
    """The folder of the file."""
    asks: bool
    answers: Answers = field(default_factory=Answers)
    offers: dict[str, Offer] = field(default_factory=dict)
    is_connected: bool = False
    """Whether the offers are a server's own."""

    @property
    def _major(self) -> int | None:
        return self.answers.version if self.answers.dsn is None else None

    def all(self) -> Answers:
        """Returns every answer."""
        self._server()
        self._factors()
        if self.asks and self.given.workload is None:
            terminal.tell(ready_workloads().items())
        found = self.answers
        found.workload = self._one("workload", lambda text: check.workload(text, self.beside))
        loaded = load_workload(found.workload, self.beside, file="")
        found.has_own_connections = any(one.weight < 0 for one in loaded.scenarios)
        found.is_installed = loaded.installed is not None
        found.scale = self._one("scale", check.scale)
        found.clients = self._one("clients", check.clients)
        found.step = self._one("step", check.step)
        found.effect = self._one("effect", check.effect)
        usual = check.usual_question(list(found.factors), found.workload)
        found.question = self._one("question", check.question, usual)
        return found

    def _one(self, name: str, fits: Callable[[str], Value], default: str = "") -> Value:
        """The answer of a flag, of the user, or the default."""
        written: str | None = getattr(self.given, name)
        if written is not None:
            with_flag = _FLAGS.get(name, f"--{name}")
            return flagged(with_flag, fits, written)
        default = default or DEFAULTS[name]
        return terminal.ask(name, default, fits) if self.asks else fits(default)

    def _server(self) -> None:
        given = self.given
        if given.dsn is not None and given.postgres is not None:
            raise Refusal("options-exclude-each-other", option="--dsn", other="--postgres")
        if given.dsn is not None:
            self.answers.dsn = flagged("--dsn", check.server, given.dsn)
            self._connected(self.answers.dsn, can_ask_again=False)
        elif given.postgres is not None:
            if given.postgres not in VERSIONS:
                raise Refusal("no-such-postgres", f"--postgres {given.postgres}")
            self.answers.version = VERSIONS[given.postgres]
        elif self.asks:
            while True:
                self.answers.dsn = terminal.ask("server", check.EMBEDDED, check.server)
                if self._connected(self.answers.dsn, can_ask_again=True):
                    break
        if not self.offers:
            self.offers = of_version(self._major)

    def _connected(self, dsn: str | None, *, can_ask_again: bool) -> bool:
        """Whether the server answers, if it is to be asked."""
        if dsn is None:
            return True
        wanted = self.given.connect
        if wanted is None:
            wanted = self.asks and terminal.ask("connect", "y", check.is_yes)
        if not wanted:
            return True
        try:
            label, self.offers = of_server(dsn)
        except PgassayError as error:
            if not can_ask_again:
                raise
            err.print(f"  [yellow]{plain(str(error))}[/]")
            return False
        err.print(f"  {plain(label)}")
        self.is_connected = True
        return True

    def _factors(self) -> None:
        for written in self.given.vary:
            flagged("--vary", self._vary, written)
        while self.asks and not self.given.vary:
            name = terminal.ask("vary", "", self._setting)
            if not name:
                break
            self._ask_levels(name)
        self._permission()

    def _vary(self, written: str) -> None:
        name, levels = check.setting_and_levels(written)
        self._add(name, levels)

    def _add(self, name: str, text: str) -> None:
        known, levels = check.factor(name, text, self.answers.target)
        if known in self.answers.factors:
            raise Refusal("varied-already", name=known)
        if self.is_connected and known in self.offers:
            self.offers[known].check(levels)
        self.answers.factors[known] = levels

    def _setting(self, text: str) -> str:
        """A name; empty for none. A search prints what it finds, and the question stays."""
        if not text:
            return ""
        if text.startswith("?"):
            found = search(self.offers, text[1:].strip())
            terminal.tell(found)
            raise Refusal("which-of-these" if found else "no-setting-found")
        name = check.name_of_setting(text, self._major)
        if name in self.answers.factors:
            raise Refusal("varied-already", name=name)
        if name not in self.offers and "." not in name:
            raise Refusal("not-on-this-server", name=name, near=did_you_mean(name, self.offers))
        return name

    def _ask_levels(self, name: str) -> None:
        offer = self.offers.get(name)
        usual = ", ".join(check.in_a_list(one) for one in offer.levels()) if offer else ""
        about = offer.about if offer else "a setting of an extension"
        terminal.ask("levels", usual, lambda text: self._add(name, text), setting=name, kind=about)

    def _permission(self) -> None:
        """Whether a run may change settings of the user's server; only asked if it would."""
        found = self.answers
        if found.dsn is None:
            if self.given.allow_changes:
                raise Refusal("changes-without-dsn")
            return
        allowed = self.given.allow_changes
        if not found.factors:
            found.allow_changes = bool(allowed)
            return
        settings = ", ".join(found.factors)

        def permitted(text: str) -> bool:
            if not check.is_yes(text) and not fits_sessions(found):
                raise Refusal("settings-not-varied", settings)
            return check.is_yes(text)

        if allowed is None and self.asks:
            allowed = terminal.ask("changes", "n", permitted, settings=settings)
        found.allow_changes = permitted("y" if allowed else "n")
        if not found.allow_changes:
            found.mode = SWITCHBACK


def flagged(flag: str, fits: Callable[[str], Value], text: str) -> Value:
    """Returns a flag's value as `check` reads it; an error names the flag."""
    try:
        return fits(text)
    except Refusal as refusal:
        raise refusal.at(flag if flag == "--dsn" else f"{flag} {text}") from None
