"""Expressions and scripts that our engine must run as pgbench does.

Enters: nothing. Leaves: tables of cases. Never: has the expected outcome; pgbench gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_TABLES = Path(__file__).parent / "script_language"

EXPRESSIONS = (_TABLES / "values.txt").read_text().splitlines()
DEFINED = {"d": "1e1", "yes": "y", "off": "off", "nothing": "NULL"}


@dataclass(frozen=True)
class Script:
    """A script that writes into table `got` (v text), its protocols and number of runs."""

    text: str
    modes: tuple[str, ...] = ("simple", "extended", "prepared")
    transactions: int = 1


SIMPLE = ("simple",)
PARAMETERS = ("extended", "prepared")

SCRIPTS = [
    Script("INSERT INTO got VALUES ('a;b');INSERT INTO got VALUES ('c')"),
    Script("\\set x 1\nINSERT INTO got VALUES (:x::text);"),
    Script("\\set x 1\n\\set x :x + 1\nINSERT INTO got VALUES (:x::text);"),
    Script("-- comment ; 'x\nINSERT INTO got VALUES ('a'); -- more ; '\n/* and ; ' */ SELECT 1;"),
    Script("INSERT INTO got /* ; */ VALUES ('b') -- ; x\n;"),
    Script("INSERT INTO got\n  VALUES\n  ('multi\nline');"),
    Script("INSERT INTO got VALUES (E'it\\'s;'), ('it''s;'), ($$;$$), ($a$;$$;$a$);"),
    Script("INSERT INTO got VALUES (E'a\\n' -- it's\n 'it\\'s;'\n\n'\\\\'), ('b'\n'\\' );"),
    Script("INSERT INTO got VALUES (U&'\\0041'\n'!0042' UESCAPE '!'), (N'\\');"),
    Script('CREATE TEMP TABLE procedure ("begin" int); DROP TABLE procedure;'),
    Script('CREATE TEMP TABLE "odd;name" (i int); DROP TABLE "odd;name";'),
    Script(
        "CREATE OR REPLACE FUNCTION two() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true"
        " THEN 2 END; END;\nINSERT INTO got SELECT two();"
    ),
    Script("DO $$BEGIN INSERT INTO got VALUES ('do'); END$$;"),
    Script("\\set x \\\n 1 + \\\n 2\nINSERT INTO got VALUES (:x::text);"),
    Script("\\set x 1\r\nINSERT INTO got VALUES (:x::text);\r\n"),
    Script("\\ set x 5\n\\SET y 6\n\\\nINSERT INTO got VALUES (:x::text || :y::text);"),
    Script("INSERT INTO got VALUES ('a') \\set x 7\nINSERT INTO got VALUES (:x::text);"),
    Script(";\n;;\nINSERT INTO got VALUES ('empty');"),
    Script("INSERT INTO got VALUES ('no semicolon')"),
    Script("\\set é 3\nINSERT INTO got VALUES (:é::text || 'é');"),
    Script("\\set x 3\nINSERT INTO got VALUES ((ARRAY[1,2,3])[1:2]::text || '12:30' || :x::text);"),
    Script("\\set x 5\nINSERT INTO got VALUES (':x' || ':nope' || '::x');", SIMPLE),
    Script("\\set x 5\nINSERT INTO got VALUES ($$:x$$ /* :x */); -- :x", SIMPLE),
    Script("\\set x 5\nINSERT INTO got VALUES (\\:x || '\\:x');", SIMPLE),
    Script("INSERT INTO got VALUES ((:{?x})::text || ':{?x}');"),
    Script("INSERT INTO got VALUES ('1')\\; INSERT INTO got VALUES ('2');", SIMPLE),
    Script("\\if true\nINSERT INTO got VALUES ('yes');\n\\endif"),
    Script(
        "\\if 0\nINSERT INTO got VALUES ('yes');\n\\else\nINSERT INTO got VALUES ('no');\n\\endif"
    ),
    Script(
        "\\if false\nSELECT 1;\n\\elif null\nSELECT 2;\n\\elif 2\nINSERT INTO got VALUES ('2');\n"
        "\\elif 1 / 0\nSELECT 3;\n\\else\nSELECT 4;\n\\endif\nINSERT INTO got VALUES ('end');"
    ),
    Script(
        "\\if true\n\\if false\nSELECT 1;\n\\else\nINSERT INTO got VALUES ('inner');\n\\endif\n"
        "INSERT INTO got VALUES ('outer');\n\\else\n\\if true\nINSERT INTO got VALUES ('never');\n"
        "\\endif\n\\endif"
    ),
    Script(
        "\\if false\n\\set x 1 / 0\n\\if 1 / 0\n\\endif\n\\endif\nINSERT INTO got VALUES ('ok');"
    ),
    Script(
        "\\set x random(1, 3)\n\\if :x = 1\nINSERT INTO got VALUES ('one');\n\\elif :x = 2\n"
        "INSERT INTO got VALUES ('two');\n\\else\nINSERT INTO got VALUES ('three');\n\\endif",
        transactions=20,
    ),
    Script("\\if 0.5\n\\endif\n\\if 0.0\nSELECT 1;\n\\endif\nINSERT INTO got VALUES ('ok');"),
    Script("SELECT 7 AS x \\gset\nINSERT INTO got VALUES (:x::text);"),
    Script(
        "SELECT 7 AS x, 'a''b' AS y, NULL AS z \\gset p_\n"
        "INSERT INTO got VALUES (:p_x::text || :p_y || :p_z);",
        PARAMETERS,
    ),
    Script("SELECT 1 AS x \\; SELECT 2 AS x \\gset\nINSERT INTO got VALUES (':x');", SIMPLE),
    Script("SELECT 1 AS x \\; SELECT 2 AS y \\aset\nINSERT INTO got VALUES (':x:y');", SIMPLE),
    Script("SELECT i AS x FROM generate_series(1, 5) i \\aset\nINSERT INTO got VALUES (:x::text);"),
    Script("\\set x 9\nSELECT 1 AS x LIMIT 0 \\aset\nINSERT INTO got VALUES (:x::text);"),
    Script(
        "INSERT INTO got VALUES ('r') RETURNING v AS x \\gset\nINSERT INTO got VALUES (:x);",
        PARAMETERS,
    ),
    Script("SELECT 41 AS x \\gset\n\\set x :x + 1\nINSERT INTO got VALUES (:x::text);"),
    Script(
        "SELECT 't' AS flag, '1.5' AS d \\gset\n\\if :flag\n\\set d :d * 2\n\\endif\n"
        "INSERT INTO got VALUES (:d::text);"
    ),
    Script("SELECT 'x' AS unused \\gset\nINSERT INTO got VALUES ('ok');"),
    Script(
        "\\sleep 1 us\n\\sleep 1ms\n\\set x 1\n\\sleep :x ms\n\\sleep 0\n\\sleep -5 s\n"
        "INSERT INTO got VALUES ('woke');"
    ),
    Script("BEGIN;\n\\sleep 1 ms\nINSERT INTO got VALUES ('in');\nEND;"),
    Script("\\set x random(1, 1000000)\nINSERT INTO got VALUES (:x::text);", transactions=50),
    Script("\\set x 1\nINSERT INTO got VALUES (:x::text);\n\\set x :x + 1", transactions=3),
    Script(
        "\\startpipeline\nINSERT INTO got VALUES ('1');\nINSERT INTO got VALUES ('2');\n"
        "\\endpipeline\n"
        "INSERT INTO got VALUES ('3');",
        PARAMETERS,
        2,
    ),
    Script(
        "\\startpipeline\n\\set x 5\nINSERT INTO got VALUES (:x::text);\n\\syncpipeline\n"
        "\\set x :x + 1\n"
        "INSERT INTO got VALUES (:x::text);\n\\syncpipeline\n\\endpipeline",
        PARAMETERS,
        2,
    ),
    Script("\\startpipeline\n\\endpipeline\nINSERT INTO got VALUES ('ok');", PARAMETERS),
    Script(
        "BEGIN;\n\\startpipeline\nINSERT INTO got VALUES ('p');\nEND;\n\\sleep 2 ms\n\\endpipeline",
        PARAMETERS,
    ),
    Script(
        "\\if true\n\\startpipeline\n\\endif\nINSERT INTO got VALUES ('c');\n\\endpipeline",
        PARAMETERS,
    ),
    Script(
        "\\setshell x echo 5\n\\set y 3\n\\shell test :y = 3\n\\setshell z expr :x + :y\n"
        "INSERT INTO got VALUES (:z::text);"
    ),
    Script("\\setshell x printf ::a | wc -c\nINSERT INTO got VALUES (:x::text);"),
]
