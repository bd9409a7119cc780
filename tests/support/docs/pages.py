"""Every Markdown page of the repository: its links, its anchors and its blocks of code.

Enters: nothing. Leaves: pages, read as GitHub reads them. Never: reaches the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[3]
_FOLDERS = ("bench", "crates", "docs", "python", "tests", "tools")
_PICTURE = re.compile(r'<img\b[^>]*\bsrc="([^"]+)"')
_MARK = re.compile(r"<!--\s*(untried|with|files):\s*(.*?)\s*-->", re.DOTALL)


@cache
def pages() -> tuple[Path, ...]:
    """Every page, those of the root first."""
    below = [page for name in _FOLDERS for page in sorted((ROOT / name).rglob("*.md"))]
    return (*sorted(ROOT.glob("*.md")), *below)


def name_of(page: Path) -> str:
    """A page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    """A page as GitHub parses it."""
    return tuple(MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8")))


def links(page: Path) -> list[str]:
    """The targets of all links and pictures of a page."""
    inline = [child for token in tokens(page) for child in token.children or ()]
    found = [one.attrs.get("href", one.attrs.get("src")) for one in inline]
    raw = "".join(one.content for one in [*tokens(page), *inline] if one.type.startswith("html"))
    return [*(str(target) for target in found if target), *_PICTURE.findall(raw)]


def code_spans(page: Path) -> list[str]:
    """What a page sets in backticks within its text."""
    inline = [child for token in tokens(page) for child in token.children or ()]
    return [one.content for one in inline if one.type == "code_inline"]


def github_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for slug in _slugs(page):
        number = next(n for n in range(1000) if (f"{slug}-{n}" if n else slug) not in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


def _slugs(page: Path) -> Iterator[str]:
    parsed = tokens(page)
    for at, token in enumerate(parsed):
        if token.type == "heading_open":
            parts = [child.content for child in parsed[at + 1].children or ()]
            yield re.sub(r"[^\w\- ]", "", "".join(parts).lower()).replace(" ", "-")


@dataclass(frozen=True)
class Block:
    """A block of code, and what the comment before it says of how to try it."""

    page: str
    line: int
    language: str
    text: str
    untried: str | None
    """Why it is not tried."""
    completion: str
    """TOML that the fragment goes on from."""
    files: tuple[str, ...]
    """Files that it names and the page does not show."""

    @property
    def place(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"

    @property
    def asks_duckdb(self) -> bool:
        """Whether it is SQL over stored runs, and not for PostgreSQL."""
        return self.page == "docs/sql.md" or ".parquet'" in self.text

    @property
    def file(self) -> str | None:
        """The path of the file that it is, by its first line: `# wal.toml` or `-- pay.sql`."""
        named = re.match(r"(?:#|--|//) ([\w./-]+\.\w+)(?::.*)?\n", self.text)
        return named[1] if named else None


def every_block() -> list[Block]:
    """The blocks of all pages."""
    return [block for page in pages() for block in blocks(page)]


def blocks(page: Path) -> list[Block]:
    """The blocks of code of a page, in its order."""
    found, marks = [], {}
    for token in tokens(page):
        if token.type == "html_block":
            marks = dict(_MARK.findall(token.content))
        elif token.type in ("fence", "code_block"):
            assert token.map is not None
            found.append(
                Block(
                    page=name_of(page),
                    line=token.map[0] + 1,
                    language=token.info.split()[0] if token.info else "",
                    text=token.content,
                    untried=marks.get("untried"),
                    completion=marks.get("with", ""),
                    files=tuple(marks.get("files", "").split()),
                )
            )
            marks = {}
    return found
