"""Several verdicts share the error by Holm's rule: each that is reached leaves its share to others.

Enters: contrasts, a way to estimate each under a rule. Leaves: their estimates, and the rule under
which each verdict was reached. Never: takes a share back, whatever later blocks show.

There are two families, each with its own error: that arms do not differ, and that they differ by
the smallest effect or more. m verdicts begin with 1/m of both. Who is found different has rejected
a hypothesis of the first family only, and leaves its share of that; who is found equivalent leaves
its share of the second. So in each family the error is that of Holm (Scandinavian Journal of
Statistics 6, 1979), with looks as in Maurer and Bretz (Statistics in Biopharmaceutical Research 5,
2013). If either kind of verdict left both shares, up to 9 % of runs with seven levels would have a
false difference (docs/methods/verdicts.md, "Several levels").

A verdict keeps the interval under which it was reached. Intervals that hold together after a
step-down say nothing of the size of what was found (Strassburger and Bretz, Statistics in Medicine
27, 2008; Guilbaud, Biometrical Journal 50, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from pgassay.analysis.compare.rule import Rule

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


@dataclass(frozen=True)
class Reached(Generic[Key]):
    """The verdicts that have been reached."""

    rules: Mapping[Key, Rule] = field(default_factory=dict)
    """Under which each was."""
    different: int = 0
    inside: int = 0

    def rule_now(self, rule: Rule) -> Rule:
        """Returns the rule for the verdicts that are still undecided."""
        return replace(
            rule,
            simultaneous=max(1, rule.simultaneous - self.different),
            simultaneous_inside=max(1, rule.simultaneous - self.inside),
        )


def step_down(
    keys: Iterable[Key],
    estimated: Callable[[Key, Rule], Found],
    says: Callable[[Found], tuple[bool, bool]],
    rule: Rule,
    before: Reached[Key],
) -> tuple[dict[Key, Found], Reached[Key]]:
    """The estimates, in the order of the keys, and what has been reached with them.

    `says` whether an estimate finds a difference, and whether it lies inside the margin.
    """
    every = list(keys)
    found = {key: estimated(key, before.rules[key]) for key in every if key in before.rules}
    reached = before
    while open_ := [key for key in every if key not in reached.rules]:
        now = reached.rule_now(rule)
        news = {key: estimated(key, now) for key in open_}
        found |= news
        said = {key: own for key, one in news.items() if any(own := says(one))}
        if not said:
            break
        reached = Reached(
            {**reached.rules, **dict.fromkeys(said, now)},
            reached.different + sum(differs for differs, _ in said.values()),
            reached.inside + sum(inside for _, inside in said.values()),
        )
    return {key: found[key] for key in every}, reached
