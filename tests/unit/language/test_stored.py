"""Sentences that runs store in English are told again in the language of a report."""

from __future__ import annotations

import re

import pytest

from pgassay.language import clauses, listed, retold, speaking
from pgassay.notes import Note


def test_a_stored_sentence_is_in_the_language_with_its_numbers() -> None:
    text = str(Note("trials/guards/reloads", {"percent": 2.5}))
    with speaking("ru"):
        assert "2,5 %" in retold(text)
        assert "slices" not in retold(text)
    assert retold(text) == text


@pytest.mark.parametrize("language", ["ru", "zh"])
def test_a_sentence_inside_another_is_told_again_too(language: str) -> None:
    with speaking(language):
        trial = retold("trial 3: other processes used more than 5 % of the host's processors")
        assert re.findall("[a-z']{3,}", trial) == ["trial"]


def test_what_no_message_fits_and_what_a_user_named_stays() -> None:
    with speaking("ru"):
        assert retold("a disk that broke") == "a disk that broke"


def test_items_and_clauses_are_separated_as_the_language_does() -> None:
    assert (listed([1, 2]), clauses("ab")) == ("1, 2", "a; b")
    with speaking("zh"):
        assert (listed([1, 2]), clauses("ab")) == ("1、2", "a；b")
