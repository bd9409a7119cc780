"""Texts of statements are stored without secrets, up to a limit."""

from __future__ import annotations

from pgassay.trials.sampling.statement_texts import MOST_CHARACTERS, kept


def test_a_password_in_a_utility_statement_is_masked_even_where_the_text_is_cut() -> None:
    assert kept("ALTER ROLE app PASSWORD 'open sesame'") == "ALTER ROLE app PASSWORD ***"
    long = f"/* {'x' * (MOST_CHARACTERS - 40)} */ ALTER ROLE app PASSWORD 'open sesame forever'"
    assert "open" not in kept(long)


def test_a_long_text_is_cut_to_the_limit() -> None:
    found = kept("SELECT " + "1 + " * MOST_CHARACTERS + "1")
    assert len(found) == MOST_CHARACTERS
    assert found.endswith("…")
