"""A rule: a known mechanism or problem, the signs it is recognised by, and how to test it.

Enters: the files of rules/, and of the folder that PGASSAY_RULES names. Leaves: checked `Rule`s.
Never: looks at a run.

docs/methods/rules.md describes the format with a whole example.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from pgassay.findings.model import Confidence
from pgassay.refusals.refusal import SetupRefused, UnfitValue
from pgassay.spec.reading.tables import read_table
from pgassay.spec.reading.values import Table

VARIABLE = "PGASSAY_RULES"
_SHIPPED = "rules"


class ObjectCondition(Table):
    """Which objects of a source count: another figure of the same object lies within limits."""

    name: str
    least: float = float("-inf")
    most: float = float("inf")


class Sign(Table):
    """One condition: a quantity of each trial, and the limit that it reaches."""

    title: str
    """What is measured, in words."""
    source: str
    """Where the limit comes from."""
    role: Literal["leading", "required", "supporting"] = "required"
    signals: list[str] = Field(default_factory=list)
    """SOURCE/OBJECT/NAME, `*` for any text; their sum."""
    without: list[str] = Field(default_factory=list)
    """Signals that are not part of the sum."""
    where: ObjectCondition | None = None
    objects: Literal["sum", "largest"] = "sum"
    setting: str | None = None
    """A setting of the server in place of signals."""
    script: str | None = None
    """A regular expression, looked for in the arm's scripts, in place of signals."""
    plan: str | None = None
    """A regular expression, looked for in the arm's plans, in place of signals."""
    times: float = 1.0
    """What the quantity is multiplied by, such as 1000 for milliseconds."""
    per: Literal["transaction", "core", "session"] | None = None
    """session: each busy session, so that a sum of sessions becomes a share."""
    per_signals: list[str] = Field(default_factory=list)
    per_setting: str | None = None
    least: float | None = None
    most: float | None = None
    one_of: list[str] = Field(default_factory=list)
    """Values of a setting."""
    unit: str = ""
    """`%` shows a share in per cent, `B` bytes; any other text stands behind the number."""
    compared: bool = False
    """Whether this is the quantity that arms are compared in; left out, the first leading one."""

    @field_validator("signals", "without", "per_signals")
    @classmethod
    def _are_signals(cls, given: list[str]) -> list[str]:
        for one in given:
            if one.count("/") < 2:
                raise UnfitValue("signal-form", given=one)
        return given

    @field_validator("script", "plan")
    @classmethod
    def _is_expression(cls, given: str | None) -> str | None:
        try:
            re.compile(given or "")
        except re.error as error:
            raise UnfitValue("no-expression", given=given, reason=str(error)) from None
        return given

    @model_validator(mode="after")
    def _has_one_quantity(self) -> Sign:
        kinds = [self.signals, self.setting, self.script, self.plan]
        if sum(bool(one) for one in kinds) != 1:
            raise UnfitValue("one-quantity-of-a-sign")
        has_limit = self.least is not None or self.most is not None
        if self.signals and not has_limit:
            raise UnfitValue("signals-without-limit")
        if self.setting and has_limit == bool(self.one_of):
            raise UnfitValue("setting-without-limit")
        if (self.script or self.plan) and (has_limit or self.compared):
            raise UnfitValue("match-with-limit")
        return self


class NextTable(Table):
    """The experiment that tests the claim, as tables of an experiment file."""

    question: str
    factors: dict[str, Any]
    """As `[factors]`; `{NAME}` in a level is the present value of that setting."""
    settings: dict[str, Any] = Field(default_factory=dict)


class Rule(Table):
    """One file."""

    name: str
    version: int
    title: str
    claim: str
    """One or two sentences that a reader understands alone."""
    confirm: str
    refute: str
    reaches: Confidence = Field(Confidence.CONFIRMED, strict=False)
    """The surest that the rule can say."""
    supporting: int = 0
    """How many supporting signs it takes beside the leading and required ones."""
    sign: list[Sign] = Field(min_length=1)
    next: NextTable | None = None

    @model_validator(mode="after")
    def _has_a_leading_sign(self) -> Rule:
        if not any(sign.role == "leading" for sign in self.sign):
            raise UnfitValue("no-leading-sign")
        known = sum(sign.role == "supporting" for sign in self.sign)
        if not 0 <= self.supporting <= known:
            raise UnfitValue("too-many-supporting", supporting=self.supporting, known=known)
        return self

    @property
    def compared(self) -> Sign | None:
        """The sign whose quantity is compared between arms."""
        named = [sign for sign in self.sign if sign.compared]
        leading = [sign for sign in self.sign if sign.role == "leading" and sign.signals]
        return next(iter([*named, *leading]), None)


def known_rules() -> tuple[Rule, ...]:
    """Return the rules that ship, then a user's own, which replace shipped ones of their name."""
    rules = {rule.name: rule for rule in (*_shipped(), *_own())}
    return tuple(rules.values())


@cache
def _shipped() -> tuple[Rule, ...]:
    folder = files(__package__) / _SHIPPED
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=str)
    return tuple(read_table(Rule, one.read_text("utf-8"), one.name) for one in found)


def _own() -> list[Rule]:
    named = os.environ.get(VARIABLE)
    if not named:
        return []
    if not Path(named).is_dir():
        raise SetupRefused("rules-no-folder", path=named)
    rules: dict[str, Rule] = {}
    for file in sorted(Path(named).glob("*.toml")):
        try:
            rule = read_table(Rule, file.read_text("utf-8"), str(file))
        except (OSError, UnicodeDecodeError) as error:
            raise SetupRefused("rule-unreadable", path=file, reason=str(error)) from None
        if rule.name in rules:
            raise SetupRefused("rule-name-twice", path=file, name=rule.name)
        rules[rule.name] = rule
    return list(rules.values())
