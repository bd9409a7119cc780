"""The periods that `--from`, `--to` and `--with` name.

Enters: the texts of the options, when the recording began and ended. Leaves: two spans in
nanoseconds, the baseline first. Never: looks at what was recorded.

Times are those of this machine's time zone. A time of day alone is the last one that the recording
has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from pgassay.refusals.refusal import SetupRefused

Span = tuple[int, int]
"""Begin and end, in nanoseconds since 1970."""
BEFORE = "before"
_BACK: dict[str, timedelta] = {"yesterday": timedelta(days=1), "last-week": timedelta(days=7)}
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Asked:
    """The options as they were given."""

    begin: str | None = None
    end: str | None = None
    beside: str | None = None
    """`before`, `yesterday`, `last-week`, or the begin of the other period."""

    @property
    def is_given(self) -> bool:
        """Returns whether any of the options was given."""
        return any(one is not None for one in (self.begin, self.end, self.beside))


def spans_of(asked: Asked, recorded: Span) -> tuple[Span, Span]:
    """Returns the baseline and the period that is compared with it.

    Without `--to` it goes on to the end of the recording, or to what `--with` leaves of it; without
    `--with` the baseline is as long and ends where the period begins.
    """
    if asked.begin is None:
        raise SetupRefused("period-without-begin")
    last = _moment(recorded[1])
    begin = _read("--from", asked.begin, lambda at: _latest(at, last))
    end = last if asked.end is None else _read("--to", asked.end, lambda at: _after(at, begin))
    if end <= begin:
        raise SetupRefused("period-ends-first", f"--to {asked.end or end}", begin=asked.begin)
    own = _ns(begin), _ns(end)
    beside = asked.beside or BEFORE
    if beside == BEFORE:
        return (own[0] - (own[1] - own[0]), own[0]), own
    if beside in _BACK:
        # Of the clock on the wall, also where summer time began in between.
        return (_ns(begin - _BACK[beside]), _ns(end - _BACK[beside])), own
    other = _ns(_read("--with", beside, lambda at: datetime.combine(begin.date(), at)))
    if other == own[0]:
        raise SetupRefused("period-with-itself", f"--with {beside}")
    return (other, other + own[1] - own[0]), own


def words_of(span: Span) -> str:
    """Writes a period in this machine's time zone, such as `2026-11-27 09:00 – 10:00`."""
    begin, end = map(_moment, span)
    form = "%H:%M" if begin.second == end.second == 0 else "%H:%M:%S"
    day = "" if begin.date() == end.date() else f"{end:%Y-%m-%d} "
    return f"{begin:%Y-%m-%d} {begin:{form}} – {day}{end:{form}}"


def _read(option: str, text: str, of_day: Callable[[time], datetime]) -> datetime:
    """A time of day, or a date with a time, in the time zone of this machine."""
    try:
        return of_day(time.fromisoformat(text.strip()).replace(tzinfo=None))
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise SetupRefused("period-form", f"{option} {text}") from None
    return found if found.tzinfo is None else found.astimezone().replace(tzinfo=None)


def _latest(at: time, last: datetime) -> datetime:
    """The last moment of the recording at this time of day."""
    found = datetime.combine(last.date(), at)
    return found if found < last else found - _DAY


def _after(at: time, begin: datetime) -> datetime:
    """The first moment after the begin at this time of day."""
    found = datetime.combine(begin.date(), at)
    return found if found > begin else found + _DAY


def _moment(time_ns: int) -> datetime:
    return datetime.fromtimestamp(time_ns / 1e9)  # noqa: DTZ006 (the clock on the wall)


def _ns(moment: datetime) -> int:
    return round(moment.timestamp() * 1e9)
