"""The workload's data on an existing server: in a schema of our own, or a database with one.

Enters: ways to its sessions, a journal, the rule of resets. Leaves: the schema made, the data
built, put back before a trial with the variant asked for; after `remove`, the server without any of
it. Never: touches another schema or database.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from pgassay.errors import TargetError
from pgassay.server.connection.session import Work, connect, one_line, user_path
from pgassay.server.data.reset import Phases
from pgassay.server.data.schema import WorkloadSchema, make_schema, settle
from pgassay.server.data.schema_variants import SchemaVariants
from pgassay.server.data.template_database import TemplateDatabase
from pgassay.server.protocol import Connection, ConnectionParameters, Journal, ResetLevel
from pgassay.spec.server.reset import ResetRule

Open = Callable[[], Connection]


class ExistingData:
    """The schema, databases and schema variants that one run makes on an existing server."""

    def __init__(
        self, journal: Journal, rule: ResetRule, *, builds: bool = True, marks: bool = True
    ) -> None:
        """`builds` unless the tables are there; `marks` the server by a schema even then."""
        self._rule = rule
        self._builds, self._marks = builds, marks
        self._schema = WorkloadSchema(journal)
        self._database = TemplateDatabase(journal)
        self.variants = SchemaVariants(journal)
        self.at: str | None = None
        """The database of the workload, where it is not the user's."""
        self.variant = ""
        self.is_built = False

    @property
    def makes(self) -> bool:
        """Whether this run makes anything on the server."""
        return self._builds or self._marks or self._rule.level is ResetLevel.TEMPLATE

    @property
    def databases(self) -> tuple[str, str]:
        """The names of the databases that this run may have made."""
        return self._database.template, self._database.name

    @property
    def left(self) -> list[str]:
        """The SQL that would remove what this run has made."""
        return [*self.variants.left, *self._schema.left, *self._database.left]

    def make(self, control: Open, session: Open) -> None:
        """Make an empty schema, if the workload builds its data, or as a mark; `control` opens the
        user's database, `session` the workload's."""
        self.is_built = False
        if self._rule.level is ResetLevel.TEMPLATE:
            self.at = None
            self._database.make(control())
            self.at = self._database.template
        if self.at and self._builds:
            with session() as opened:
                make_schema(opened)
        elif not self.at and (self._builds or self._marks):
            with session() as opened:
                self._schema.create(opened)

    def build(self, control: Open, session: Open, build: Callable[[Connection], None]) -> None:
        """Builds the data in the empty schema; errors of `build` pass through."""
        if self._builds:
            with session() as opened, user_path(opened):
                build(opened)
            with session() as opened:
                settle(opened)
        if self.at:
            self.at = None
            self._database.freeze(control())
        self.is_built = True

    def put_back(self, control: Open, phases: Phases) -> str:
        """Makes the data as they were built, where the rule asks for it; returns how, in words."""
        if self._rule.level is not ResetLevel.TEMPLATE:
            return ""
        self.at = None
        with phases("copy"):
            copied = self._database.remake(control())
        self.at = self._database.name
        return copied

    def remove(self, parameters: ConnectionParameters | None) -> list[str]:
        """Removes everything that this run has made; returns a reason for each part that could not
        be removed."""
        problems: list[str] = []
        self.is_built = False
        if parameters is None:
            return problems  # nothing was ever made
        steps: list[Callable[[Connection], None]] = []
        if self._database.left:
            self.at = None
            steps.append(self._database.drop)
        if self._schema.left:
            steps += [self.variants.undo, self._schema.drop]
        for step in steps:
            try:
                with connect(parameters, work=Work.OWN_CHANGES, statement_limit_s=0) as session:
                    step(session)
            except (TargetError, psycopg.Error) as error:
                problems.append(one_line(error))
        return problems
