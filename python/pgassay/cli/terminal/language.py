"""`--lang`: which forms of a report have a language.

Enters: a language, the form asked for. Leaves: nothing, or a refusal. Never: writes a report.
"""

from __future__ import annotations

from pgassay.errors import SetupError

FOR_PEOPLE = ("html", "md", "brief")


def require_words(lang: str, form: str) -> None:
    """Other forms are read by machines, whose words are the same everywhere."""
    if lang != "en" and form not in FOR_PEOPLE:
        raise SetupError(
            f"--lang {lang}: {form} is in English whatever the language;"
            f" only {', '.join(FOR_PEOPLE)} can be in another"
        )
