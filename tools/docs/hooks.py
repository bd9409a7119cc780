"""What mkdocs needs to make a site of the repository's Markdown files.

Enters: mkdocs's files. Leaves: the same with README.md and other pages of the root beside docs/, as
in the repository, and the page of commands. Never: changes a page.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "python")]

from tools.docs.commands import commands_page  # noqa: E402 (mkdocs loads this file by its path)

from pgassay.language import LANGUAGES, html_code, in_language  # noqa: E402

ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
SEARCH = tomllib.loads(Path(__file__).with_name("search.toml").read_text("utf-8"))
ASSETS = ("site.css", "iframe-worker.js")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Give every page its path in the repository, and add those that are not in docs/."""

    def at(path: str, source: Path) -> File:
        return File.generated(config, path, abs_src_path=str(source))

    placed = []
    for file in files:
        path = Path(str(file.abs_src_path))
        is_page = path.is_relative_to(config.docs_dir)
        placed.append(at(f"docs/{file.src_uri}", path) if is_page else file)  # else the theme's
    placed += [at(name, ROOT / name) for name in ROOT_PAGES]
    placed += [at(name, Path(__file__).with_name(name)) for name in ASSETS]
    placed.append(File.generated(config, "docs/commands.md", content=commands_page()))
    return Files(placed)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give the search what readers call the subject of a page, and how often they look for it."""
    path = page.file.src_uri
    page.meta["tags"] = SEARCH["words"].get(path, [])
    weights = [weight for at, weight in SEARCH["weights"].items() if path.startswith(at)]
    page.meta["search"] = {"boost": min(weights, default=1.0)}
    return markdown


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the language of a page, and the search dialog for screen readers, which the theme does
    not."""
    folder = page.file.src_uri.split("/")[1:2]
    if folder and folder[0] in LANGUAGES:
        with in_language(folder[0]):
            output = output.replace('<html lang="en"', f'<html lang="{html_code()}"', 1)
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
