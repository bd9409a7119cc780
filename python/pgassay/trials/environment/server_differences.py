"""Differences between the servers under test, and their data, that no factor explains.

Enters: the facts of each server; a target whose data are built. Leaves: parts of environment.json,
and caveats. Never: keeps a setting that can hold a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psycopg import sql

from pgassay.notes import Note
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.protocol import ServerFacts, Target
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import hides, redacted
from pgassay.trials.environment.description import describe_server, with_unit

_OF_EACH_SERVER = frozenset(
    {
        "cluster_name",
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "listen_addresses",
        "log_directory",
        "log_filename",
        "port",
        "server_version",
        "server_version_num",
        "unix_socket_directories",
    }
)
"""Settings in which any two servers differ."""

_BUILT_IN = (
    "block_size",
    "data_checksums",
    "debug_assertions",
    "segment_size",
    "wal_block_size",
    "wal_segment_size",
)
"""What the compiler or initdb fixed, and what costs time."""


def describe_servers(servers: Mapping[str, ServerFacts]) -> dict[str, Any]:
    """Describes each server by its level's name, what is set otherwise, and what only some of them
    have: defaults move from version to version, and move results with them."""
    if len(servers) < 2:
        return {}
    names = {server: set(facts.settings) - _OF_EACH_SERVER for server, facts in servers.items()}
    common = set.intersection(*names.values())
    return {
        "servers": {name: describe_server(facts) for name, facts in servers.items()},
        "settings_that_differ": {
            name: values
            for name in sorted(common)
            if not hides(name) and len(set((values := _values(name, servers)).values())) > 1
        },
        "settings_of_some": {server: sorted(own - common) for server, own in names.items()},
    }


def built_unlike(servers: Mapping[str, ServerFacts]) -> Iterator[Note]:
    """Returns notes on what was fixed when the servers were compiled or their data directories
    made: no setting of the experiment can make it the same."""
    for name in _BUILT_IN:
        if all(name in facts.settings for facts in servers.values()):
            values = _values(name, servers)
            if len(set(values.values())) > 1:
                named = tuple(f"{value} ({server})" for server, value in values.items())
                yield Note("trials/environment/built-unlike", {"name": name, "named": named})


def _values(name: str, servers: Mapping[str, ServerFacts]) -> dict[str, str]:
    found = ((server, facts.settings[name]) for server, facts in servers.items())
    return {server: redacted(with_unit(one.value, one.unit)) for server, one in found}


def contents_of(target: Target) -> dict[str, Any]:
    """Returns, by table that the workload made, its number of rows and a checksum."""
    found = {}
    with (
        as_target_error("reading the data"),
        connect(target.parameters(), statement_limit_s=0) as session,
    ):
        for schema, table in session.execute(statement("trials/workload_tables")).fetchall():
            query = sql.SQL(statement("trials/table_contents").decode()).format(
                sql.Identifier(schema, table)
            )
            row = session.execute(query).fetchone()
            if row is not None:
                found[f"{schema}.{table}"] = {"rows": row[0], "checksum": row[1]}
    return found


def unlike(dataset: str, by_server: Mapping[str, Mapping[str, Any]]) -> Iterator[Note]:
    """Yields a note for each table whose rows are not those of the first server."""
    (first, expected), *others = by_server.items()
    for server, found in others:
        for table in sorted({*expected, *found}):
            if expected.get(table) != found.get(table):
                values = {"dataset": dataset, "table": table, "server": server, "first": first}
                yield Note("trials/environment/rows-unlike", values)
