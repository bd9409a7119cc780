"""Mistakes in scripts that our engine must report as pgbench does.

Enters: nothing. Leaves: tables of cases. Never: has the expected message; pgbench gives it.
"""

from __future__ import annotations

from pathlib import Path

_TABLES = Path(__file__).parent / "script_language"

# Faults while a script runs: the expression of a \set.
FAULTS = (_TABLES / "faults.txt").read_text().splitlines()
FAULT_DEFINED = {"word": "accounts", "huge": "9223372036854775808", "hole": "1 2"}

# Mistakes found before anything runs: a whole script, with the line at fault.
REFUSED = [
    ("\\set x 1 +", 1),
    ("\\set x", 1),
    ("\\set", 1),
    ("\\set x 1 2", 1),
    ("\\set x (1", 1),
    ("\\set x 1)", 1),
    ("SELECT 1;\n\n\\set x * 2", 3),
    ("\\set x 1 < 2 < 3", 1),
    ("\\set x foo(1)", 1),
    ("\\set x foo", 1),
    ("\\set x sqrt()", 1),
    ("\\set x sqrt(1, 2)", 1),
    ("\\set x random(1)", 1),
    ("\\set x random(1, 2, 3)", 1),
    ("\\set x random_zipfian(1, 2)", 1),
    ("\\set x least()", 1),
    ("\\set x pi(1)", 1),
    ("\\set x hash()", 1),
    ("\\set x hash(1, 2, 3)", 1),
    ("\\set x permute(1)", 1),
    ("\\set x permute(1, 2, 3, 4)", 1),
    ("\\set x 9223372036854775808", 1),
    ("\\set x 99999999999999999999", 1),
    ("\\set x 1e999", 1),
    ("\\set x 1 $ 2", 1),
    ("\\set x 1 ? 2", 1),
    ("\\set x 'a'", 1),
    ("\\set x 1 is 2", 1),
    ("\\set x case 1 end", 1),
    ("\\set x case when 1 then 2", 1),
    ("\\set x case when 1 end", 1),
    ("\\set x case else 1 end", 1),
    ("\\set x not", 1),
    ("\\set x :x/*2", 1),
    ("\\set x :x::y", 1),
    ("\\set x ,", 1),
    ("\\foo", 1),
    ("SELECT 1;\n\\bar 1 2", 2),
    ("\\gset", 1),
    ("\\set x 1\n\\gset", 2),
    ("SELECT 1 \\gset a b", 1),
    ("SELECT 1 \\gset\n\\gset", 2),
    ("\\sleep", 1),
    ("\\sleep x", 1),
    ("\\sleep 1 h", 1),
    ("\\sleep 10min", 1),
    ("\\sleep 1 ms 2", 1),
    ("\\if\n\\endif", 1),
    ("\\if 1 +\n\\endif", 1),
    ("\\startpipeline x", 1),
    ("\\endpipeline x", 1),
    ("\\syncpipeline x", 1),
]

# Mistakes in the order of conditions; pgbench names the command, we name line and column.
MISORDERED = [
    "\\if 1",
    "\\if 1\n\\if 2\n\\endif",
    "\\elif 1",
    "\\else",
    "\\endif",
    "\\if 1\n\\endif\n\\endif",
    "\\if 1\n\\else\n\\else\n\\endif",
    "\\if 1\n\\else\n\\elif 1\n\\endif",
]

# Scripts that fail while they run, in a mode, with the line at fault.
FAILING = [
    ("SELECT 1 AS x LIMIT 0 \\gset", "simple", 1),
    ("SELECT 1;\nSELECT i AS x FROM generate_series(1, 3) i \\gset", "prepared", 2),
    ("SELECT 1 AS x \\; UPDATE got SET v = v WHERE false \\gset", "simple", 1),
    ("SELECT 1 \\gset", "prepared", 1),
    ('SELECT 1 AS "a b" \\aset', "simple", 1),
    ("\\set x 1\n\\set y :x / 0", "prepared", 2),
    ("\\if 1 / 0\n\\endif", "simple", 1),
    ("\\if false\n\\elif 1 + true\n\\endif", "simple", 2),
    ("\\set x true\n\\sleep :x", "simple", 2),
    ("SELECT * FROM nowhere;", "simple", 1),
    ("SELECT * FROM nowhere;", "extended", 1),
    ("SELECT 1;\nBEGIN;\nSELECT 1/0;\nEND;", "prepared", 3),
    ("BEGIN;", "simple", 1),
    ("\\endpipeline", "extended", 1),
    ("\\syncpipeline", "prepared", 1),
    ("\\startpipeline\n\\startpipeline\n\\endpipeline", "extended", 2),
    ("\\startpipeline\nSELECT 1;", "prepared", 2),
    ("\\startpipeline\nSELECT 1 AS x \\gset\n\\endpipeline", "extended", 2),
    ("\\startpipeline\nSELECT 1;\nSELECT 1/0;\nSELECT 2;\n\\endpipeline", "prepared", 5),
    ("SELECT 1\\; SELECT 2;", "extended", 1),
    ("\\setshell x echo word", "simple", 1),
    ("\\setshell x true", "simple", 1),
    ("SELECT ':nope'::int;", "simple", 1),
]
