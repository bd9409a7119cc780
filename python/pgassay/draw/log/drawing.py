"""From a server's log to a drawn workload.

Enters: files of a log. Leaves: a `Drawing`. Never: shows a value, or asks a server.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from pgassay._core import LogReader
from pgassay.draw.log.choosing import Transactions, chosen, sequence_of
from pgassay.draw.log.columns import Tagged, all_numbers, joined, literal_of, values_of
from pgassay.draw.log.columns import texts_of as column_texts
from pgassay.draw.log.files import Log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.returned import with_returned
from pgassay.draw.log.texts import Text, name_of, parameter, texts_of
from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Figures,
    Lost,
    Parameter,
    Protocol,
    Source,
    SourceFigures,
)
from pgassay.draw.statements.meetings import Meeting
from pgassay.draw.statements.names import apart, variables
from pgassay.draw.statements.parsing import tokens_of
from pgassay.draw.statements.rewriting import Piece, replaced, with_names
from pgassay.notes import Note
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.secrets.redaction import is_secret_column

_ROOM = "draw/log"
_SHOWN = 200
_ENOUGH_ROWS = 10
"""From so many rows on, a constant that is the same in all of them is one."""
_FEW_ROWS = 3
_OF_THE_PROGRAM = ("limit", "offset", "field")
_SLOW_US = 1000
_MANY = 1000
_PARTIAL = 0.05
"""So many transactions without a beginning or an end are more than those at the log's own."""


def draw_log(files: Sequence[Path], options: LogOptions) -> Drawing:
    """Returns the workload of a log's files; raises SetupRefused."""
    log = Log(files, options)
    reader = log.reader()
    for _ in log.feed(reader):
        pass
    summary = json.loads(reader.summary())
    if not summary["statements"]:
        raise SetupRefused("log-without-statements", "--log", entries=summary["entries"])
    return _Gathered(reader, summary, options).drawing()


@dataclass
class _Gathered:
    """What the native module found, on its way to a drawing."""

    reader: LogReader
    summary: dict[str, Any]
    options: LogOptions
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(reason, text) → calls."""
    lost_us: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)

    def drawing(self) -> Drawing:
        texts = texts_of(self.summary)
        for one in self.summary["lost"]:
            number = one["template"]
            text = "" if number is None else texts[number].text
            self._lose(one["reason"], text, one["calls"], one["time_us"])
        database = self._database()
        drawn, rare = chosen(
            self._sequences(texts, database), self.options.most_scenarios, timed=self._timed
        )
        for sequence in rare:
            self._lose_all("rare", sequence)
        if not drawn:
            reason = max(self.lost, key=lambda one: self.lost_us[one], default=("rare", ""))[0]
            raise SetupRefused(
                "log-without-scenarios", "--log", reason=str(Note(f"{_ROOM}/{reason}", {}))
            )
        return Drawing(
            source=Source.LOG,
            protocol=self._protocol(),
            scenarios=tuple(with_returned(self._scenario(sequence)) for sequence in drawn),
            lost=tuple(
                Lost(
                    f"{_ROOM}/{reason}",
                    text,
                    round(calls / self.options.sampled),
                    self.lost_us[reason, text] / 1000 / self.options.sampled,
                )
                for (reason, text), calls in self.lost.items()
            ),
            figures=self._figures(database),
            role=self.summary["databases"][database]["user"],
            notes=tuple(self._notes(drawn, self.summary["databases"][database])),
        )

    @property
    def _timed(self) -> bool:
        """Whether the log has durations; those of failures are differences of times."""
        return bool(self.summary["with_duration"] > self.summary["failed"])

    def _database(self) -> int:
        """The one that most of the time, or of the calls, went to."""
        spent: Counter[int] = Counter()
        for one in self.summary["scenarios"]:
            spent[one["database"]] += one["time_us"] or one["transactions"]
        return max(spent, key=lambda one: spent[one], default=0)

    def _sequences(self, texts: Sequence[Text], database: int) -> Iterator[Transactions]:
        """Those that can be repeated; what cannot is lost."""
        temporary = {text.temporary for text in texts if text.temporary}
        for number, scenario in enumerate(self.summary["scenarios"]):
            sequence = sequence_of(number, scenario, texts)
            reasons = [reason for text in sequence.texts if (reason := text.lost)]
            needs = any(text.data and text.values for text in sequence.texts)
            if scenario["database"] != database:
                self._lose_all("other-database", sequence)
            elif reasons:
                self._lose_all(reasons[0], sequence)
            elif any(one.name in temporary for text in sequence.texts for one in text.tables):
                self._lose_all("temporary-table", sequence)
            elif needs and scenario["without_values"] == scenario["transactions"]:
                self._lose_all("without-values", sequence)
            else:
                yield sequence

    def _lose_all(self, reason: str, sequence: Transactions) -> None:
        calls = round(sequence.transactions)
        for text, (time_us, _) in zip(sequence.texts, sequence.done, strict=True):
            self._lose(reason, text.text, calls, time_us)

    def _lose(self, reason: str, text: str, calls: int, time_us: int) -> None:
        shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        self.lost[reason, shown] += calls
        self.lost_us[reason, shown] += time_us

    def _scenario(self, sequence: Transactions) -> DrawnScenario:
        columns = self._columns(sequence)
        transactions = sequence.transactions / self.options.sampled
        scale = transactions / sequence.logged
        taken: dict[str, pa.Array] = {}
        statements = []
        at = 0
        for text, (time_us, failed) in zip(sequence.texts, sequence.done, strict=True):
            own = columns[at : at + text.values] if text.data else []
            at += len(own)
            said, parameters = self._said(text, own, taken)
            calls = round(transactions)
            figures = Figures(calls, time_us * scale / 1000, failed=round(failed * scale))
            statements.append(
                DrawnStatement(text.fingerprint or "", said, text.text, parameters, figures)
            )
        name = apart(name_of(sequence.texts, rolled_back=sequence.rolled_back), self.names)
        self.names.add(name)
        return DrawnScenario(
            name=name,
            statements=tuple(statements),
            explicit=sequence.explicit,
            transactions=round(transactions),
            parameters=pa.table(taken) if taken else None,
            ends="ROLLBACK" if sequence.rolled_back else "COMMIT",
            pauses_us=tuple(map(tuple, sequence.pauses_us)),
        )

    def _columns(self, sequence: Transactions) -> list[Tagged]:
        """The values of its statements, one column for each."""
        values = sum(text.values for text in sequence.texts if text.data)
        found: list[list[Tagged]] = []
        rows = 0
        for number, at in sequence.parts if values else ():
            if own := self.reader.columns(number)[at : at + values]:
                found.append(own)
                rows += len(own[0][0])
            if rows >= self.options.most_rows:
                break
        return [joined(one) for one in zip(*found, strict=True)]

    def _said(
        self, text: Text, columns: Sequence[Tagged], taken: dict[str, pa.Array]
    ) -> tuple[str, tuple[Parameter, ...]]:
        """A statement's text with variables, and these; their columns are added to `taken`."""
        met = dict(text.meetings())
        fixed: dict[int, str] = {}
        for number, column in enumerate(columns, start=1):
            if self._is_of_the_program(text, met[number], column):
                literal = literal_of(column) if len(column[0]) >= _ENOUGH_ROWS else None
                if literal is not None:
                    fixed[number] = literal
                    del met[number]
        found = {
            n: values_of(columns[n - 1]) if n > text.parameters else column_texts(columns[n - 1])
            for n in met
        }
        named = variables(met.values(), taken)
        for number, values in found.items():
            # What was the same in every transaction is one variable.
            same = (name for name, column in taken.items() if column.equals(values))
            enough = len(values) >= _ENOUGH_ROWS or _all_differ(values)
            named[number] = next(same, named[number]) if enough else named[number]
            taken.setdefault(named[number], values)
        said = with_names(_with_constants(text.text, fixed), named)
        return said, tuple(parameter(named[number], met[number]) for number in named)

    def _is_of_the_program(self, text: Text, met: Meeting, column: Tagged) -> bool:
        """Whether a constant may be one of the client's program: one beside parameters, or one that
        is no value of a table. Of a text without parameters each other may be a value of the
        user's that the client has put in."""
        if met.number <= text.parameters or not self.options.keep_constants:
            return False
        name = met.column.name if met.column else met.near
        is_number = met.column is None and all_numbers(column)
        beside = text.parameters > 0 and not is_secret_column(name)
        return beside or is_number or met.role.is_key or met.role in _OF_THE_PROGRAM

    def _protocol(self) -> Protocol:
        return max(Protocol, key=lambda one: int(self.summary[one.value]))

    def _figures(self, database: int) -> SourceFigures:
        found = self.summary
        seconds = max((found["last_us"] - (found["first_us"] or 0)) / 1e6, 1e-3)
        own = found["databases"][database]
        return SourceFigures(
            seconds=seconds,
            database=own["name"],
            commits=round(own["commits"] / self.options.sampled),
            rollbacks=round(own["rollbacks"] / self.options.sampled),
            active_sessions=(
                own["busy_us"] / 1e6 / seconds / self.options.sampled if self._timed else None
            ),
            sessions=own["sessions_at_once"],
        )

    def _notes(
        self, drawn: Sequence[Transactions], own: dict[str, Any]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        found, share = self.summary, self.options.sampled
        if singles := sum(one.is_single for one in drawn):
            yield "draw/log/singles", {"count": singles, "most": self.options.most_scenarios}
        ended = own["commits"] + own["rollbacks"] + own["partial"]
        if own["partial"] > _PARTIAL * ended:
            yield "draw/log/partial", {"percent": 100 * own["partial"] / ended}
        shortest = found["shortest_us"] or 0
        if not self._timed:
            yield "draw/log/no-durations", {}
        if shortest >= _SLOW_US and found["with_duration"] >= _MANY:
            yield "draw/log/only-slow", {"shortest_ms": shortest / 1000}
        if share != 1:
            yield "draw/log/sampled", {"percent": 100 * share}
        if found["whole_seconds"]:
            yield "draw/log/whole-seconds", {}
        counts = {
            "draw/log/values-cut": found["cut"],
            "draw/log/times-back": found["back"],
            "draw/log/unread": found["unread"],
            "draw/log/pooled": sum(one.pooled for one in drawn),
        }
        for code, count in counts.items():
            if count:
                yield code, {"count": count}


def _all_differ(values: pa.Array) -> bool:
    """Whether so few values are equal to others by chance hardly ever."""
    return len(values) >= _FEW_ROWS and len(values.unique()) == len(values)


def _with_constants(text: str, fixed: dict[int, str]) -> str:
    """A text with constants put in for some `$n`."""
    if not fixed:
        return text
    pieces = (
        Piece(token.start, token.end, fixed[int(token.text[1:])])
        for token in tokens_of(text)
        if token.name == "PARAM" and int(token.text[1:]) in fixed
    )
    return replaced(text, pieces)
