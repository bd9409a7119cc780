"""A Russian or Chinese report has no English words but names, those of names.txt, and of messages
that are not translated yet, and no English colons."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from tools.messages.extract import Msg, all_messages
from tools.messages.update import untranslated

from pgassay.language import in_language
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from support.synthetic.kept import kept_object
from support.synthetic.report_contexts import NO_FACTORS, STEPS, synthetic_context, with_facts

_NO_TEXT = re.compile(
    r"<(script|style|pre|code)\b.*?</\1>|```.*?```|`[^`\n]+`|https?://\S+", re.DOTALL
)
_TEXT = re.compile(r'>([^<]+)<|(?:aria-label|title|data-name)="([^"]*)"')
_WORD = re.compile(r"(?<![\w.\-/=_\[{:%])[A-Za-z]?[a-z’']{2,}(?![\w=_(./:\-])")
_ASCII_COLON = re.compile("[\u4e00-\u9fff]: ")
NAMES = frozenset((Path(__file__).parent / "names.txt").read_text("utf-8").split())
"""Settings and programs, statisticians, columns of vmstat and iostat, units."""


@pytest.fixture(scope="module")
def messages() -> list[Msg]:
    """Every message once."""
    return kept_object(all_messages)


@pytest.mark.parametrize("language", ["ru", "zh"])
@pytest.mark.parametrize("spec", [STEPS, NO_FACTORS])
def test_no_english_word_is_left_but_names(
    language: str, spec: str, tmp_path: Path, messages: list[Msg]
) -> None:
    waiting = [one for each in untranslated(language, messages) for one in (each.text, each.plural)]
    known = NAMES.union(*map(_WORD.findall, waiting))
    with in_language(language):
        made = with_facts(synthetic_context(tmp_path, spec), question="?", environment={})
        page = _NO_TEXT.sub(" ", render_html(made))
        texts = [unescape(one) for both in _TEXT.findall(page) for one in both if one]
        texts += unescape(_NO_TEXT.sub(" ", render_markdown(made))).split("\n")
    left = {word: text for text in texts for word in _WORD.findall(text) if word not in known}
    assert left == {}
    assert [text for text in texts if _ASCII_COLON.search(text)] == []
