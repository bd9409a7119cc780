"""The keys of `[design]` that decide when a run ends.

Enters: min_blocks, max_blocks, stopping, looks. Leaves: the stopping rule by name, and the blocks
after which it looks. Never: computes a bound.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.values import Table

LEAST_BLOCKS, MOST_BLOCKS, FIXED_BLOCKS = 6, 24, 12
"""Defaults: of sequential and group-sequential runs; of runs with a fixed number of blocks."""
MOST_LOOKS = 20
"""That a file may list."""
MOST_ANALYSES = 48
"""Most looks of a sequential run, of which each costs the simulation of its bound."""
_USUAL_LOOKS = 4
_LIMIT = 1000

Look = Annotated[int, Field(ge=2, le=_LIMIT)]


def stopping_of(named: str | None, least: int, most: int) -> str:
    """Returns the stopping rule; left out, it is "fixed" if the least and the most blocks are
    equal."""
    return named or ("fixed" if least == most else "sequential")


def sequential_looks(least: int, most: int) -> tuple[int, ...]:
    """Returns the blocks after which a sequential run is judged: every one from `least` to `most`;
    of many blocks the first, the last and every second, third, …, so that there are at most
    `MOST_ANALYSES`."""
    apart = max(1, -(-(most - least) // (MOST_ANALYSES - 1)))
    return tuple(sorted({least, *range(most, least, -apart)}))


class StoppingKeys(Table):
    """The keys of `[design]` that say how many blocks a run has, and after which it may end."""

    min_blocks: Annotated[int, Field(ge=2, le=_LIMIT)] = Field(
        LEAST_BLOCKS, description="the run has at least this many"
    )
    max_blocks: Annotated[int, Field(ge=2, le=_LIMIT)] = Field(
        MOST_BLOCKS, description="the run has at most this many"
    )
    stopping: Literal["sequential", "fixed", "group-sequential"] | None = Field(
        None,
        description="the run may end after every block (sequential; of more than 48 after every"
        " second, third, … one), after some (group-sequential) or after the last (fixed); left"
        " out: fixed if min_blocks = max_blocks, else sequential",
    )
    looks: Annotated[tuple[Look, ...], Field(strict=False, min_length=2, max_length=MOST_LOOKS)] = (
        Field((), description="group-sequential: the blocks after which the run may end")
    )

    @model_validator(mode="before")
    @classmethod
    def _blocks_that_are_left_out(cls, table: Any) -> Any:
        """Fill in what follows: one number of blocks from the other, both from the looks."""
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
            # min_blocks alone does not ask for a fixed number: the run may still end early.
            found["max_blocks"] = max(least, min(2 * least, _LIMIT))
        return found

    @model_validator(mode="after")
    def _agree(self) -> StoppingKeys:
        least, most = self.min_blocks, self.max_blocks
        # Defaults depend on the mode, which the plan chooses (`modes.blocks_of`).
        if most < least and {"min_blocks", "max_blocks"} <= self.model_fields_set:
            raise UnfitValue("blocks-reversed", most=most, least=least)
        if self.stopping == "fixed" and most != least:
            raise UnfitValue("fixed-of-several", least=least, most=most)
        if "looks" in self.model_fields_set:
            self._check_looks()
        elif self.stopping == "group-sequential" and most == least:
            raise UnfitValue("one-look")
        return self

    def _check_looks(self) -> None:
        if self.stopping != "group-sequential":
            raise UnfitValue("looks-of-another-rule")
        if list(self.looks) != sorted(set(self.looks)):
            raise UnfitValue("looks-not-rising", looks=list(self.looks))
        if (self.looks[0], self.looks[-1]) != (self.min_blocks, self.max_blocks):
            raise UnfitValue(
                "looks-not-of-blocks",
                first=self.looks[0],
                last=self.looks[-1],
                least=self.min_blocks,
                most=self.max_blocks,
            )

    def stops(self) -> str:
        """The stopping rule by name."""
        return stopping_of(self.stopping, self.min_blocks, self.max_blocks)

    def looks_at(self) -> tuple[int, ...]:
        """The looks of a group-sequential run; left out, up to four at even distances. Those of a
        sequential run where they are not after every block."""
        least, most = self.min_blocks, self.max_blocks
        if self.stopping != "group-sequential":
            found = sequential_looks(least, most)
            return found if len(found) <= most - least else ()
        apart = (most - least) / (_USUAL_LOOKS - 1)
        return self.looks or tuple(
            sorted({round(least + apart * place) for place in range(_USUAL_LOOKS)})
        )
