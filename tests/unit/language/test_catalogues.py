"""A translation has the placeholders and markup of its message, and one word for each thing.

A message without a translation fails no test: it is shown in English, and `make messages` lists it.
"""

from __future__ import annotations

import re
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from tools.messages.extract import Msg
from tools.messages.update import FOLDER, TRANSLATED, read, untranslated

languages = pytest.mark.parametrize("language", TRANSLATED)
_TAG = re.compile(r"</?\w[^>]*>")


def messages_in(language: str) -> list[Message]:
    """Those of the catalogue, without its header."""
    catalogue: Catalog = read(FOLDER / f"{language}.po", language)
    return [one for one in catalogue if one.id]


def texts_in(message: Message) -> list[tuple[str, str]]:
    """(English, translation), one pair for each form that is translated."""
    if isinstance(message.id, str):
        pairs = [(message.id, str(message.string))]
    else:
        pairs = [(message.id[-1], text) for text in message.string or ()]
    return [(said, translated) for said, translated in pairs if translated]


@languages
def test_a_catalogue_has_no_line_that_is_not_understood(language: str) -> None:
    with (FOLDER / f"{language}.po").open("rb") as file:
        assert len(read_po(file, locale=language, abort_invalid=True)) > 0


def test_a_message_that_a_catalogue_lacks_is_listed() -> None:
    new = Msg("no such message")
    assert untranslated("ru", [Msg("Blocks"), new]) == [new]


@languages
def test_a_translation_has_the_placeholders_and_the_markup_of_its_message(language: str) -> None:
    differing = [
        said
        for message in messages_in(language)
        for said, translated in texts_in(message)
        if _fields(said) != _fields(translated) or _tags(said) != _tags(translated)
    ]
    assert differing == []


@languages
def test_a_translation_keeps_the_spaces_at_its_ends(language: str) -> None:
    """Sentences are joined as they are; Chinese needs no space between them."""
    differing = [
        said
        for message in messages_in(language)
        for said, translated in texts_in(message)
        if language != "zh" and (_ends(said) != _ends(translated))
    ]
    assert differing == []


def test_runs_and_trials_have_one_word_each() -> None:
    # A run of an arm, and its place in a block, are trials.
    for message in messages_in("ru"):
        for text, translation in texts_in(message):
            assert "опыт" not in translation, translation
            if re.search(r"\bruns?\b", text) and not re.search(
                r"\b([Tt]rials?|arms?|block)\b", text
            ):
                assert "прогон" not in translation.lower(), translation
    for message in messages_in("zh"):
        for text, translation in texts_in(message):
            assert "试验" not in translation, translation
            if "sessions" in text and ("share its luck" in text or "those given" in text):
                assert "会话" not in translation, "which is a session of the database"


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _tags(text: str) -> list[str]:
    return sorted(_TAG.findall(text))


def _ends(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()
