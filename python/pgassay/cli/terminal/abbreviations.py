"""Long options may be abbreviated, as getopt_long lets pgbench's users do.

Enters: a command's arguments. Leaves: the same with every long option written out, or a SpecError
that lists what an abbreviation may mean. Never: looks at an option's value.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from typer.core import TyperCommand

from pgassay.refusals.refusal import Refusal


class Abbreviating(TyperCommand):
    """A command with pgbench's options. An abbreviation that pgbench knows means pgbench's option,
    also where one of ours begins in the same way."""

    our_panels: Collection[str] = ()
    """Panels of the help whose options pgbench does not have."""
    theirs: Collection[str] = ()
    """Those of pgbench that this command does not have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.written_out(ctx, args))

    def written_out(self, ctx: Any, args: list[str]) -> list[str]:
        """Returns the arguments with whole names of options."""
        options = [one for one in self.get_params(ctx) if one.param_type_name == "option"]
        takes_value = {name: _takes_value(one) for one in options for name in one.opts}
        ours = {name for one in options for name in one.opts if self._is_ours(one)}
        found: list[str] = []
        rest = iter(args)
        for word in rest:
            if word == "--":
                return [*found, word, *rest]
            name, equals, value = word.partition("=")
            if name.startswith("--"):
                name = self._option(name, takes_value, ours)
                found.append(name + equals + value)
                has_value_next = not equals and takes_value.get(name, False)
            else:
                found.append(word)
                has_value_next = _ends_without_value(word, takes_value)
            if has_value_next:
                found.extend([one for one in [next(rest, None)] if one is not None])
        return found

    def _is_ours(self, option: Any) -> bool:
        return option.rich_help_panel in self.our_panels or option.name in ("as_json", "help")

    def _option(self, name: str, known: Collection[str], ours: Collection[str]) -> str:
        """The whole name; the word itself where none begins like it, which the parser refuses."""
        whole = [one for one in (*known, *self.theirs) if one.startswith("--")]
        if name in whole:
            return name
        begun = [one for one in whole if one.startswith(name)]
        meant = [one for one in begun if one not in ours] or begun
        if len(meant) > 1:
            raise Refusal("option-ambiguous", name=name, known=", ".join(sorted(meant)))
        return meant[0] if meant else name


def _takes_value(option: Any) -> bool:
    return not (option.is_flag or option.count)


def _ends_without_value(word: str, takes_value: dict[str, bool]) -> bool:
    """Whether the letters of `-Snc` end with one whose value is the next word."""
    if not word.startswith("-"):
        return False
    for place, letter in enumerate(word[1:], 2):
        if takes_value.get(f"-{letter}", False):
            return place == len(word)
    return False
