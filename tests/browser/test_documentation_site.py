"""The documentation site: whole, the same as on GitHub, read without a network or a server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import axe_core_python
import pytest
from markdown_it import MarkdownIt

from browser.chromium import running_chromium
from pgassay.cli.commands import COMMANDS, load_command
from support.docs.pages import ROOT, name_of, pages

AXE = Path(axe_core_python.__file__).parent / "axe.min.js"
LOADS = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=["']?([^"' >]+)""")
URLS = re.compile(r"""url\(["']?([^"')]+)""")
SHAPES = re.compile(r"<(h[1-6]|li|table|tr|pre|img)\b")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def built(site: Path, page: str) -> str:
    """The HTML of a page of the repository."""
    at = re.sub(r"README\.md$", "index.md", page).removesuffix(".md")
    return (site / f"{at}.html").read_text("utf-8")


def test_the_site_has_every_page_as_github_shows_it_and_every_option_and_loads_nothing(
    site: Path,
) -> None:
    github = MarkdownIt("commonmark", {"html": True}).enable("table")
    shown = [page for page in pages() if page.parent == ROOT or page.is_relative_to(ROOT / "docs")]
    differing = {}
    for page in shown:
        article = built(site, name_of(page)).split("<article")[1].split("</article>")[0]
        article = re.sub(r"<(nav|aside)\b.*?</\1>", "", article, flags=re.DOTALL)
        here = Counter(SHAPES.findall(article))
        there = Counter(SHAPES.findall(github.render(page.read_text("utf-8"))))
        if here != there:
            differing[name_of(page)] = {"site": here - there, "GitHub": there - here}
    assert differing == {}

    reference = built(site, "docs/commands.md")
    options = [name for one in COMMANDS for part in load_command(one).params for name in part.opts]
    assert [name for name in options if name not in reference] == []

    texts = [
        file.read_text("utf-8") for file in site.rglob("*") if file.suffix in (".html", ".css")
    ]
    loaded = {target for text in texts for target in LOADS.findall(text) + URLS.findall(text)}
    assert [one for one in loaded if one.startswith(("http:", "https:", "//"))] == []


FOUND = {
    "checkpoint dip": "studies/checkpoint-dip",
    "index on off": "factors",
    "compare two queries": "factors",
    "production server safe": "existing-servers",
    "password": "connections",
}
"""The page that is found first, by what a reader types."""


def test_the_site_is_searched_from_a_folder_and_fits_a_phone(site: Path) -> None:
    with (
        running_chromium() as browser,
        browser.open(site / "docs" / "load.html", 375, 800, dark=True) as tab,
    ):
        assert tab.evaluate("document.documentElement.scrollWidth") == 375
        tab.evaluate("""
            window.field = document.querySelector('[data-md-component=search-query]');
            window.first = words => new Promise(done => {
                field.focus(); field.value = words; field.dispatchEvent(new Event('keyup'));
                setInterval(() => {
                    const one = document.querySelector('.md-search-result__link');
                    if (one && new URL(one.href).searchParams.get('h')) done(one.pathname);
                }, 20);
            });
        """)
        for words, page in FOUND.items():
            tab.evaluate("document.querySelector('.md-search-result__list').replaceChildren()")
            first = f"first({words!r})"
            answer = tab.send("Runtime.evaluate", expression=first, awaitPromise=True)
            assert answer["result"]["value"].endswith(f"/docs/{page}.html"), words
        assert tab.console == []
