"""Every relative link of every Markdown page leads to a file, and to a heading in it."""

from __future__ import annotations

import re

from support.docs.pages import ROOT, github_anchors, links, name_of, pages

IS_OUTSIDE = ("https://", "http://", "mailto:")


def test_every_relative_link_leads_to_a_file_and_a_heading_of_it() -> None:
    broken = []
    for page in pages():
        for target in links(page):
            if target.startswith(IS_OUTSIDE):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            is_page = file.suffix == ".md"
            if not file.exists() or (anchor and is_page and anchor not in github_anchors(file)):
                broken.append(f"{name_of(page)}: {target}")
    assert broken == []


def test_no_link_leads_out_of_the_repository() -> None:
    outside = [
        f"{name_of(page)}: {target}"
        for page in pages()
        for target in links(page)
        if not target.startswith((*IS_OUTSIDE, "#"))
        and not (page.parent / target.partition("#")[0]).resolve().is_relative_to(ROOT)
    ]
    assert outside == []


def test_every_page_that_the_program_names_exists() -> None:
    kinds = (".py", ".toml", ".j2", ".sql")
    files = [file for file in (ROOT / "python").rglob("*") if file.suffix in kinds]
    texts = "".join(file.read_text("utf-8") for file in files)
    named = set(re.findall(r"\bdocs/[\w/-]+\.md", texts))
    assert len(named) > 3
    assert [name for name in named if not (ROOT / name).is_file()] == []
