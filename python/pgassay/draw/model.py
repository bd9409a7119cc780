"""A drawn workload: scenarios with parameters, their figures on the source, and what was lost.

Enters: nothing. Leaves: the classes that drawing from statistics and from a log fill, and that the
writer reads. Never: reads a server or a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Source(StrEnum):
    """What a workload was drawn from."""

    STATISTICS = "statistics"
    LOG = "log"


class Protocol(StrEnum):
    """How the source's clients sent a statement; words of `load.protocol`."""

    SIMPLE = "simple"
    EXTENDED = "extended"
    PREPARED = "prepared"


class Origin(StrEnum):
    """Where the values of a parameter come from, best first."""

    LOG = "log"
    """The values that were logged."""
    RETURNED = "returned"
    """What a statement before in the transaction returns."""
    SESSIONS = "sessions"
    """Constants in the statements that the source's sessions showed."""
    ROWS = "rows"
    """Rows sampled from the table; columns of one table are drawn together."""
    COMMON = "common"
    """Most common values and histogram of pg_stats."""
    PARENT = "parent"
    """Rows of the table that a foreign key refers to."""
    ABOVE = "above"
    """Values above the highest, for inserts into a unique column."""
    TYPE = "type"
    """A guess by the type alone."""


class Role(StrEnum):
    """What a statement does with a parameter: a comparison's operator, or its place. With a column,
    "+" and "-" are of a bound from which a step is taken (`at > $1 - interval '1 day'`)."""

    EQUAL = "="
    UNEQUAL = "<>"
    BELOW = "<"
    UP_TO = "<="
    ABOVE = ">"
    FROM = ">="
    BETWEEN = "between"
    IN = "in"
    ANY = "any"
    LIKE = "like"
    CONTAINS = "@>"
    OVERLAPS = "&&"
    ITEM = "->"
    TEXT_ITEM = "->>"
    HAS_ITEM = "?"
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"
    JOINED = "||"
    LIMIT = "limit"
    OFFSET = "offset"
    FIELD = "field"
    """Of EXTRACT and date_trunc."""
    VALUES = "values"
    SET = "set"
    OTHER = ""
    """Something else, such as another operator."""

    @classmethod
    def _missing_(cls, value: object) -> Role:
        return cls.OTHER

    @property
    def is_step(self) -> bool:
        """Whether it is a bound from which a step is taken: both are of the same row."""
        return self in {Role.PLUS, Role.MINUS}

    @property
    def is_key(self) -> bool:
        """Whether it is a key of a document in a column."""
        return self in {Role.ITEM, Role.TEXT_ITEM, Role.HAS_ITEM}

    @property
    def compares(self) -> bool:
        """Whether it is compared by equality or order."""
        return self in _COMPARES

    @property
    def is_range(self) -> bool:
        """Whether how many rows it lets through is a matter of its value."""
        return self in _COMPARES - {Role.EQUAL, Role.UNEQUAL} | {Role.BETWEEN, Role.LIKE}

    @property
    def counts(self) -> bool:
        """Whether it says, or has, a number of rows or values."""
        return self in {Role.LIMIT, Role.OFFSET, Role.ANY, Role.CONTAINS, Role.OVERLAPS}

    @property
    def is_written(self) -> bool:
        """Whether what it is decides no rows that are looked up."""
        return self in _WRITTEN

    @property
    def chooses(self) -> bool:
        """Whether it names rows one by one."""
        return self in {Role.EQUAL, Role.IN, Role.ANY}

    @property
    def meets_column(self) -> bool:
        """Whether a column on the other side is what its values are of."""
        own = {Role.BETWEEN, Role.IN, Role.ANY, Role.LIKE, Role.CONTAINS, Role.OVERLAPS}
        return self.compares or self.is_key or self in own

    @property
    def looks_up(self) -> bool:
        """Whether it is of a row that is looked up, if it has a column."""
        return self.meets_column or self.is_step


_COMPARES = {Role.EQUAL, Role.UNEQUAL, Role.BELOW, Role.UP_TO, Role.ABOVE, Role.FROM}
_WRITTEN = {
    Role.VALUES, Role.SET, Role.PLUS, Role.MINUS, Role.TIMES, Role.OVER, Role.JOINED, Role.FIELD,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """One variable of a script, a column of the scenario's table of parameters."""

    name: str
    type: str
    """As format_type shows it; empty where the server was not asked."""
    origin: Origin
    column: str | None = None
    """schema.table.column that it is compared with or written to, quoted where needed."""
    role: Role = Role.OTHER


@dataclass(frozen=True, slots=True)
class Figures:
    """What a statement did on the source in the time drawn; None where the source does not say."""

    calls: int
    time_ms: float
    rows: int | None = None
    blocks_found: int | None = None
    blocks_read: int | None = None
    blocks_dirtied: int | None = None
    wal_bytes: int | None = None
    failed: int = 0


@dataclass(frozen=True, slots=True)
class DrawnStatement:
    """One statement of a scenario."""

    fingerprint: str
    """libpg_query's, 16 hexadecimal digits."""
    text: str
    """As the script has it, without a semicolon at the end, with `:name` for each parameter."""
    source_text: str
    """As the source shows it, with `$n` for each parameter; never a constant of the user's."""
    parameters: tuple[Parameter, ...]
    figures: Figures
    query_id: int | None = None
    """That of pg_stat_statements on the source."""
    returns: str | None = None
    """What stands before the names of the columns that it returns, as variables of statements
    after it; None where these take none of them."""


@dataclass(frozen=True, slots=True)
class DrawnScenario:
    """A transaction that clients repeat."""

    name: str
    """Letters, digits and hyphens; unique, the name of its files."""
    statements: tuple[DrawnStatement, ...]
    explicit: bool
    """True with BEGIN and COMMIT around the statements."""
    transactions: int
    """How many of them the source had in the time that was drawn; the weight."""
    parameters: pa.Table | None
    """A row for each transaction, a column for each parameter: int64, float64, bool, or
    PostgreSQL's text."""
    order: str = "random"
    """"random" or "sequential"."""
    ends: str = "COMMIT"
    """How an explicit transaction ends; "ROLLBACK" where the source's did."""
    pauses_us: tuple[tuple[int, ...], ...] = ()
    """Before each statement but the first: quantiles (0, 10, …, 100 %) of the pause on the source,
    or nothing."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Statements of the source that no scenario has."""

    reason: str
    """A code of draw/notes.toml, such as "draw/utility"."""
    text: str
    """With `$n` for each constant, cut to 200 characters."""
    calls: int
    time_ms: float


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """The source as a whole, in the time that was drawn; None where it does not say."""

    seconds: float
    server_version_num: int | None = None
    database: str = ""
    commits: int | None = None
    rollbacks: int | None = None
    blocks_found: int | None = None
    blocks_read: int | None = None
    active_sessions: float | None = None
    """Mean over time of the sessions at work."""
    sessions: int | None = None
    """The most that were connected at once."""
    waits: dict[str, float] = field(default_factory=dict)
    """Wait type → mean number of sessions; "CPU" without one."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of it."""

    source: Source
    protocol: Protocol
    """The one that most calls were sent by."""
    scenarios: tuple[DrawnScenario, ...]
    lost: tuple[Lost, ...]
    figures: SourceFigures
    schemas: tuple[str, ...] = ()
    """Where the source's sessions look for names; empty where that is not known."""
    role: str = ""
    """That most statements of a log are of; empty where the log does not say."""
    notes: tuple[tuple[str, dict[str, object]], ...] = ()
    """Codes of draw/notes.toml ("draw/in-sequence") with their values, most important first."""
