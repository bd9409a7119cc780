"""Messages and numbers are in the language in force, and English where a catalogue has nothing."""

from __future__ import annotations

import json

import pytest

from pgassay.errors import SetupError
from pgassay.language import (
    Message,
    clauses,
    decimals,
    in_language,
    language,
    listed,
    localised,
    ntr,
    sentences,
    tr,
)
from pgassay.report.document.text import joined, plain_text


def test_a_message_without_a_translation_is_english() -> None:
    with in_language("ru"):
        assert tr("no such {thing}", thing="message") == "no such message"
        assert ntr("{n} such", "{n} of such", 2) == "2 of such"


def test_an_empty_text_stays_empty_in_every_language() -> None:
    for spoken in ("en", "ru", "zh"):
        with in_language(spoken):
            assert tr("") == ""


def test_the_language_before_is_in_force_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), in_language("zh"):
        raise ZeroDivisionError
    assert language() == "en"


def test_an_unknown_language_is_refused_with_those_known() -> None:
    with pytest.raises(SetupError, match="one of en, ru, zh"), in_language("fr"):
        pass


@pytest.mark.parametrize(
    ("spoken", "number", "small"),
    [("en", "−1\u202f234.5", "0.25"), ("ru", "−1\u202f234,5", "0,25"), ("zh", "−1,234.5", "0.25")],
)
def test_numbers_have_the_separators_of_the_language(spoken: str, number: str, small: str) -> None:
    with in_language(spoken):
        assert localised("-1,234.5") == number
        assert decimals(0.25, "g") == small


def test_a_number_with_a_sign_has_a_true_minus() -> None:
    assert decimals(-71.02, "+.1f") == "\u221271.0"
    assert decimals(2.08, "+.1f") == "+2.1"
    assert decimals(-1e-05, "+g") == "\u22121e-05"


def test_a_message_is_english_to_machines() -> None:
    with in_language("ru"):
        assert json.dumps({"title": Message("Throughput")}) == '{"title": "Throughput"}'
        assert Message("Throughput") == "Throughput"


def test_items_and_clauses_are_separated_as_the_language_does() -> None:
    assert (listed([1, 2]), clauses("ab")) == ("1, 2", "a; b")
    with in_language("zh"):
        assert (listed([1, 2]), clauses("ab")) == ("1、2", "a；b")


@pytest.mark.parametrize(("spoken", "gap"), [("en", " "), ("ru", " "), ("zh", "")])
def test_sentences_follow_each_other_as_the_language_does(spoken: str, gap: str) -> None:
    with in_language(spoken):
        assert sentences(["A.", "", "B."]) == f"A.{gap}B."
        assert plain_text(joined("A.", "", False, "B.")) == f"A.{gap}B."
