"""A translation has the placeholders and markup of its message, and one word for each thing.

A message without a translation fails no test: it is shown in English, and `make messages` lists it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from tools.messages.extract import Msg
from tools.messages.update import FOLDER, TRANSLATED, read, untranslated
from tools.studies import words

CATALOGUES = [folder / f"{one}.po" for folder in (FOLDER, words.FOLDER) for one in TRANSLATED]
catalogues = pytest.mark.parametrize("path", CATALOGUES, ids=str)
_TAG = re.compile(r"</?\w[^>]*>")


def messages_in(path: Path) -> list[Message]:
    """Those of the catalogue, without its header."""
    catalogue: Catalog = read(path, path.stem)
    return [one for one in catalogue if one.id]


def texts_in(message: Message) -> list[tuple[str, str]]:
    """(English, translation), one pair for each form that is translated."""
    if isinstance(message.id, str):
        pairs = [(message.id, str(message.string))]
    else:
        pairs = [(message.id[-1], text) for text in message.string or ()]
    return [(said, translated) for said, translated in pairs if translated]


@catalogues
def test_a_catalogue_has_no_line_that_is_not_understood(path: Path) -> None:
    with path.open("rb") as file:
        assert len(read_po(file, locale=path.stem, abort_invalid=True)) > 0


def test_a_message_that_a_catalogue_lacks_is_listed() -> None:
    new = Msg("no such message")
    assert untranslated("ru", [Msg("Blocks"), new]) == [new]


@catalogues
def test_a_translation_has_the_placeholders_and_the_markup_of_its_message(path: Path) -> None:
    differing = [
        said
        for message in messages_in(path)
        for said, translated in texts_in(message)
        if _fields(said) != _fields(translated) or _tags(said) != _tags(translated)
    ]
    assert differing == []


@catalogues
def test_a_translation_keeps_the_spaces_at_its_ends(path: Path) -> None:
    """Sentences are joined as they are; Chinese needs no space between them."""
    differing = [
        said
        for message in messages_in(path)
        for said, translated in texts_in(message)
        if path.stem != "zh" and (_ends(said) != _ends(translated))
    ]
    assert differing == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_text_of_a_study_has_its_figures_in_every_language(language: str) -> None:
    differing = {
        said: f"{wanted - found} {found - wanted}"
        for message in messages_in(words.FOLDER / f"{language}.po")
        for said, translated in texts_in(message)
        if (wanted := _figures(said, "en")) != (found := _figures(translated, language))
    }
    assert differing == {}


def test_runs_trials_and_sessions_have_one_word_each() -> None:
    # A run of an arm, and its place in a block, are trials.
    for message in messages_in(FOLDER / "ru.po"):
        for text, translation in texts_in(message):
            assert "опыт" not in translation, translation
            assert "сесси" not in translation.lower(), "which is a сеанс"
            if re.search(r"\bruns?\b", text) and not re.search(
                r"\b([Tt]rials?|arms?|block)\b", text
            ):
                assert "прогон" not in translation.lower(), translation
    for message in messages_in(FOLDER / "zh.po"):
        for text, translation in texts_in(message):
            assert "试验" not in translation, translation
            if "sessions" in text and ("share its luck" in text or "those given" in text):
                assert "会话" not in translation, "which is a session of the database"


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _figures(text: str, language: str) -> Counter[str]:
    """The numbers of a text without separators of thousands, and with a point before decimals."""
    thousands = "[, \u202f]" if language == "zh" else "[ \u202f]"
    plain = re.sub(rf"(?<=\d){thousands}(?=\d{{3}}(?!\d))", "", text)
    return Counter(one.replace(",", ".") for one in re.findall(r"\d+(?:[.,]\d+)*", plain))


def _tags(text: str) -> list[str]:
    return sorted(_TAG.findall(text))


def _ends(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()
