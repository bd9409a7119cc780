"""Every page is found by a reader, and says at its beginning what it shows."""

from __future__ import annotations

import re
import tomllib

from pgassay.report.sections.run_parts import RUN_SECTIONS
from pgassay.report.sections.trace import TRACE_SECTIONS
from support.docs.pages import ROOT, links, name_of, pages, tokens

OF_THE_SITE = [page for page in pages() if page.is_relative_to(ROOT / "docs")]
INDEX = ROOT / "docs" / "README.md"
TRANSLATED = ("docs/ru/", "docs/zh/")
INDEXES = [ROOT / "docs" / at / "README.md" for at in ("", "studies", "ru/studies", "zh/studies")]


def test_every_page_is_in_the_navigation_of_the_site_and_in_the_index() -> None:
    navigation = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(set(navigation)) == sorted(navigation)
    asked = {
        name_of(page)
        for page in OF_THE_SITE
        if page in INDEXES or not name_of(page).startswith(TRANSLATED)  # whose index has them
    }
    assert asked - set(navigation) == set()
    listed = {
        (index.parent / target.partition("#")[0]).resolve()
        for index in INDEXES
        for target in links(index)
    }
    missing = [page for page in OF_THE_SITE if page.resolve() not in listed]
    assert [name_of(page) for page in missing if page != INDEX] == []


def test_the_search_knows_pages_that_there_are() -> None:
    search = tomllib.loads((ROOT / "tools" / "docs" / "search.toml").read_text("utf-8"))
    assert sorted(set(search["words"]) - {name_of(page) for page in pages()}) == []
    assert [at for at in search["weights"] if not (ROOT / at).exists()] == []


def test_every_page_begins_with_its_title_and_a_sentence() -> None:
    beginnings = {name_of(page): [token.type for token in tokens(page)] for page in OF_THE_SITE}
    wanted = ["heading_open", "inline", "heading_close", "paragraph_open"]
    assert [name for name, kinds in beginnings.items() if kinds[:4] != wanted] == []


def test_no_page_begins_with_whom_it_serves() -> None:
    sentences = {name_of(page): tokens(page)[4].content for page in OF_THE_SITE}
    assert [name for name, text in sentences.items() if text.startswith("For ")] == []


def test_every_section_of_a_report_is_explained() -> None:
    page = (ROOT / "docs" / "reading-a-report.md").read_text("utf-8")
    explained = re.findall(r"^\| (.+?) \| ", page.split("## The sections")[1], re.MULTILINE)
    assert sorted(explained[1:]) == sorted(section.title for section in RUN_SECTIONS)


def test_figures_of_the_sources_are_in_sections_that_there_are() -> None:
    page = ROOT / "docs" / "methods" / "figures-of-the-sources.md"
    titles = {str(one.title) for one in (*RUN_SECTIONS, *TRACE_SECTIONS)}
    named = set(re.findall(r"(?<!\*)\*([A-Z][^*|]+)\*(?!\*)", page.read_text("utf-8")))
    assert sorted(named - titles) == []
    assert len(named) > 20
