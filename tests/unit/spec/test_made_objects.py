"""Indexes and statistics are told from other SQL by the words of each statement."""

from __future__ import annotations

import pytest

from pgassay.spec.factors.made_objects import names_of_objects


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("", []),
        ("CREATE INDEX ON t (a)", []),
        ("create unique index Concurrently A_b on only s.t using gin ((x || ';'))", ['"a_b"']),
        ('-- ;\nCREATE INDEX "A; ""b" ON t (a) /* ; */;\n;', None),
        ('CREATE INDEX "A ""b" ON t (a) WHERE b = $x$;$x$;', ['"A ""b"']),
        (
            "CREATE STATISTICS s.x (mcv) ON a, b FROM t; CREATE STATISTICS ON a, b FROM t",
            ['"x"'],
        ),
        ("CREATE TABLE t (a int)", None),
        ("CREATE INDEX ON t (a); ANALYZE t", None),
        ("CREATE INDEX IF NOT EXISTS i ON t (a)", None),
        ("ALTER TABLE t ALTER a SET STATISTICS 1000", None),
        (r"CREATE INDEX ON t (a) WHERE b = E'\'; DROP TABLE t; --'", None),
    ],
)
def test_what_makes_objects_alone_has_their_names(sql: str, names: list[str] | None) -> None:
    assert names_of_objects(sql) == names
