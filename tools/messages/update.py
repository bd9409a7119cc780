"""Brings the catalogues of translations up to the messages of the package and of studies.

    make messages

Keeps every translation; a message that is gone is kept at the end as obsolete (`#~`). Makes the
catalogue of a language that has none yet. Lists the messages that are shown in English for want of
a translation.
"""

from __future__ import annotations

import io
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from tools.messages.extract import PACKAGE, Msg, all_messages
from tools.studies import words

from pgassay.language import LANGUAGES

TRANSLATED = tuple(one for one in LANGUAGES if one != "en")
FOLDER = PACKAGE / "languages"
_HEADER = """\
# Messages of pgassay. `make messages` keeps the list; only msgstr is written by hand."""


def main() -> None:
    """Write every catalogue, and say what is left to translate."""
    for folder, messages in ((FOLDER, all_messages()), (words.FOLDER, words.messages())):
        for language in TRANSLATED:
            path = folder / f"{language}.po"
            updated = text_of(catalogue_of(language, path, messages))
            path.write_text(updated, "utf-8")
            missing = untranslated(language, messages, folder)
            print(f"{path}: {len(messages)} messages, {len(missing)} not translated")
            for one in missing:
                print(f"  {one.text!r}")


def catalogue_of(language: str, path: Path, messages: list[Msg]) -> Catalog:
    """These messages, with the translations that the file has."""
    template = Catalog()
    for one in messages:
        template.add(
            (one.text, one.plural) if one.plural else one.text, context=one.context or None
        )
    known = read(path, language) if path.exists() else Catalog(locale=language)
    known.update(template, no_fuzzy_matching=True, update_creation_date=False)
    for message in known:
        message.flags.discard("python-format")
    known.header_comment = _HEADER
    return known


def read(path: Path, language: str) -> Catalog:
    """A catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=language)


def untranslated(language: str, messages: list[Msg], folder: Path = FOLDER) -> list[Msg]:
    """Those that are shown in English to readers of this language."""
    known = read(folder / f"{language}.po", language)
    found = ((one, known.get(one.text, one.context or None)) for one in messages)
    return [one for one, kept in found if kept is None or not is_translated(kept.string)]


def is_translated(string: str | tuple[str, ...] | list[str] | None) -> bool:
    """Whether no form of it is missing."""
    return all(string) if isinstance(string, tuple | list) else bool(string)


def text_of(catalogue: Catalog) -> str:
    """The file, with nothing in it that changes by itself."""
    written = io.BytesIO()
    write_po(written, catalogue, omit_header=True, no_location=True, sort_output=True, width=100)
    plurals = catalogue.plural_forms
    header = (
        f'{_HEADER}\nmsgid ""\nmsgstr ""\n"Language: {catalogue.locale_identifier}\\n"\n'
        f'"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: {plurals}\\n"\n\n'
    )
    return header + written.getvalue().decode().strip() + "\n"


if __name__ == "__main__":
    main()
