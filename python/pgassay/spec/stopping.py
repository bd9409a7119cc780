"""When a run ends: the keys of [design] that say so.

Enters: min_blocks, max_blocks, stopping, looks. Leaves: the rule by name, the blocks of its looks.
Never: computes a bound.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pgassay.spec.values import Table

LEAST_BLOCKS, MOST_BLOCKS, FIXED_BLOCKS = 6, 24, 12
"""Where the file does not say: sequential and group-sequential runs; fixed ones."""
MOST_LOOKS = 20
_USUAL_LOOKS = 4
_LIMIT = 1000

Look = Annotated[int, Field(ge=2, le=_LIMIT)]


def stopping_of(named: str | None, least: int, most: int) -> str:
    """The rule by name; where none is named it follows from the least and the most blocks."""
    return named or ("fixed" if least == most else "sequential")


class StoppingKeys(Table):
    """Blocks, and after which of them the run may end."""

    min_blocks: Annotated[int, Field(ge=2, le=_LIMIT)] = LEAST_BLOCKS
    max_blocks: Annotated[int, Field(ge=2, le=_LIMIT)] = MOST_BLOCKS
    stopping: Literal["sequential", "fixed", "group-sequential"] | None = Field(
        None,
        description="may end after every block (sequential), after stated ones (group-sequential),"
        " or after the last (fixed); left out: sequential, or fixed where min_blocks = max_blocks",
    )
    looks: Annotated[tuple[Look, ...], Field(strict=False, min_length=2, max_length=MOST_LOOKS)] = (
        Field((), description="group-sequential: the blocks after which it may end, rising")
    )

    @model_validator(mode="before")
    @classmethod
    def _blocks_that_are_left_out(cls, table: Any) -> Any:
        """One number of blocks follows from the other, both from the looks."""
        if not isinstance(table, dict):
            return table
        found = dict(table)
        looks, least, most = (found.get(k) for k in ("looks", "min_blocks", "max_blocks"))
        if found.get("stopping") == "fixed":
            given = least if least is not None else most
            found.setdefault("min_blocks", FIXED_BLOCKS if given is None else given)
            found.setdefault("max_blocks", found["min_blocks"])
        elif isinstance(looks, list) and looks and all(isinstance(n, int) for n in looks):
            found.setdefault("min_blocks", min(looks))
            found.setdefault("max_blocks", max(looks))
        elif most is None and isinstance(least, int) and least >= MOST_BLOCKS:
            # One number alone is no wish for a fixed one: the run may still end early.
            found["max_blocks"] = max(least, min(2 * least, _LIMIT))
        return found

    @model_validator(mode="after")
    def _agree(self) -> StoppingKeys:
        least, most = self.min_blocks, self.max_blocks
        # What is left out depends on the mode, which the plan chooses: `modes.blocks_of`.
        if most < least and {"min_blocks", "max_blocks"} <= self.model_fields_set:
            raise ValueError(f"max_blocks ({most}) is less than min_blocks ({least})")
        if self.stopping == "fixed" and most != least:
            raise ValueError(
                f'stopping = "fixed" takes one number of blocks, not {least} to {most}; drop'
                " max_blocks, or make it the same"
            )
        if "looks" in self.model_fields_set:
            self._check_looks()
        elif self.stopping == "group-sequential" and most == least:
            raise ValueError(
                'stopping = "group-sequential" takes several looks; raise max_blocks above'
                " min_blocks, or write looks"
            )
        return self

    def _check_looks(self) -> None:
        if self.stopping != "group-sequential":
            raise ValueError(
                'looks belongs to group-sequential runs; write stopping = "group-sequential" too'
            )
        if list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks must rise, and {list(self.looks)} does not")
        if (self.looks[0], self.looks[-1]) != (self.min_blocks, self.max_blocks):
            raise ValueError(
                f"looks go from {self.looks[0]} to {self.looks[-1]} blocks, not from min_blocks"
                f" ({self.min_blocks}) to max_blocks ({self.max_blocks}); drop these two"
            )

    def stops(self) -> str:
        """The rule by name."""
        return stopping_of(self.stopping, self.min_blocks, self.max_blocks)

    def looks_at(self) -> tuple[int, ...]:
        """Of a group-sequential run; where the file has none, four or fewer at even distances."""
        if self.stopping != "group-sequential":
            return ()
        least, most = self.min_blocks, self.max_blocks
        apart = (most - least) / (_USUAL_LOOKS - 1)
        return self.looks or tuple(
            sorted({round(least + apart * place) for place in range(_USUAL_LOOKS)})
        )
