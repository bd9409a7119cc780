"""Texts of statements are stored without secrets, up to a limit."""

from __future__ import annotations

import pytest

from pgassay.trials.sampling.statement_texts import MOST_CHARACTERS, kept


def test_a_password_in_a_utility_statement_is_masked_even_where_the_text_is_cut() -> None:
    assert kept("ALTER ROLE app PASSWORD 'open sesame'") == "ALTER ROLE app PASSWORD ***"
    long = f"/* {'x' * (MOST_CHARACTERS - 40)} */ ALTER ROLE app PASSWORD 'open sesame forever'"
    assert "open" not in kept(long)


def test_a_long_text_is_cut_to_the_limit() -> None:
    found = kept("SELECT " + "1 + " * MOST_CHARACTERS + "1")
    assert len(found) == MOST_CHARACTERS
    assert found.endswith("…")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ALTER ROLE a PASSWORD E'it\\'s word'", "ALTER ROLE a PASSWORD ***"),
        ("ALTER ROLE a PASSWORD U&'w\\006frd'", "ALTER ROLE a PASSWORD ***"),
        ("ALTER ROLE a PASSWORD $$word$$", "ALTER ROLE a PASSWORD ***"),
        ("ALTER ROLE a PASSWORD $x$wo$$rd$x$ LOGIN", "ALTER ROLE a PASSWORD *** LOGIN"),
        ("SET app.secret = 'it''s word'", "SET app.secret = '…'"),
        ("SET a.b = e'wo'\n 'r\\'d', 'word'", "SET a.b = '…', '…'"),
        ("DO $$ BEGIN PERFORM f('word'); END $$", "DO '…'"),
        ("COPY t TO PROGRAM 'curl -d word' (FORMAT csv)", "COPY t TO PROGRAM '…' (FORMAT csv)"),
        ("SET app.secret = 'word that the cut", "SET app.secret = '…'"),
        ("DO $x$ word $$ that the cut", "DO '…'"),
    ],
)
def test_no_literal_of_a_utility_statement_is_stored(text: str, stored: str) -> None:
    assert kept(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        """SELECT "it's", $1 FROM t -- don't""",
        """SELECT $1 /* don't */ FROM a$b$c, d$b$e""",
        "/* one /* two */ don't */ SELECT $1$2",
    ],
)
def test_what_only_looks_like_a_literal_stays(text: str) -> None:
    assert kept(text) == text
    assert kept(f"{text}\n, 'word'") == f"{text}\n, '…'"
