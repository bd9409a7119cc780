"""A report in another language has no English sentence left, and is as inert as in English."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from tools.messages.extract import all_messages

from pgassay import language
from pgassay.cli.terminal.options import require_words
from pgassay.errors import SetupError
from pgassay.language import in_language
from pgassay.report.brief.render import render_brief
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from support.synthetic.kept import kept_object
from support.synthetic.report_contexts import HOSTILE_SPEC, STEPS, synthetic_context

_UNSEEN = re.compile(r"<script>.*?</script>|<style>.*?</style>|<pre.*?</pre>", re.DOTALL)
_MARKED = re.compile("⟦[^⟦⟧]*⟧")


@cache
def messages() -> frozenset[str]:
    """Their texts."""
    return frozenset(one.text for one in kept_object(all_messages))


class Marking(gettext.NullTranslations):
    """A catalogue that has every message, as itself between marks."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧" if message in messages() else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.fixture(params=["ru", "zh"])
def spoken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language whose every message is marked is in force."""
    messages()  # in English, before a language is in force
    marking = Marking()
    monkeypatch.setattr(language, "_catalogue", lambda _: marking)
    with in_language(request.param):
        yield request.param


def test_no_message_is_shown_that_was_not_translated(spoken: str, tmp_path: Path) -> None:
    page = _UNSEEN.sub("", render_html(synthetic_context(tmp_path, STEPS)))
    assert page.count("⟦") > 200
    while (left := _MARKED.sub("", page)) != page:
        page = left
    shown = re.findall(r">([^<]+)<", page) + re.findall(r'(?:aria-label|title)="([^"]*)"', page)
    sentences = {text for text in messages() if " " in text}
    assert {text for one in shown if (text := unescape(one).strip()) in sentences} == set()


@pytest.mark.parametrize("render", [render_html, render_markdown, render_brief])
def test_hostile_names_are_inert_and_never_translated(
    spoken: str, tmp_path: Path, render: object
) -> None:
    text = render(synthetic_context(tmp_path, HOSTILE_SPEC))  # type: ignore[operator]
    if render is render_html:
        assert text.count("<script") == 1
        assert "<img" not in text
        assert f'<html lang="{language.html_code()}">' in text
    else:
        assert "⟦" in text


@pytest.mark.parametrize("form", ["json", "csv", "xlsx", "openmetrics", "junit"])
def test_forms_for_machines_refuse_a_language_in_one_line(form: str) -> None:
    with pytest.raises(SetupError, match="only html, md, brief can be in another"):
        require_words("ru", form)
    require_words("en", form)
