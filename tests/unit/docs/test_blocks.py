"""Every block of code on every Markdown page is tried, or says why it is not.

Comments before a block, which no reader sees, say how: `<!-- with: [target] dsn = "…" -->` gives
tables that a fragment goes on from, `<!-- files: brin.sql mine/ -->` names files and folders that
it refers to, and `<!-- untried: REASON -->` excuses it. Output and the like is marked `text`.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import yaml

from support.docs.command_lines import (
    called,
    is_ours,
    mistake,
    mistake_in_text,
    unknown_options,
)
from support.docs.files import script_mistake, toml_mistake, write_files
from support.docs.pages import Block, blocks, code_spans, every_block, name_of, pages

TRIED = ("json", "python", "sh", "sql", "toml", "yaml")
UNTRIED = 0
"""Blocks that say why they are not tried. A new one is a decision, so it is counted here."""


def sh_mistakes(text: str) -> list[str]:
    """What is wrong with lines of shell; they are excused where none of them is ours."""
    commands = list(called(text))
    if not any(map(is_ours, commands)):
        return ["no line calls pgassay or make: mark it as text, or say why it is untried"]
    return [found for one in commands if is_ours(one) and (found := mistake(one))]


def mistakes(block: Block, folder: Path) -> list[str]:
    """What is wrong with one block."""
    try:
        match block.language:
            case "sh":
                return sh_mistakes(block.text)
            case "toml":
                found = toml_mistake(block, folder)
            case "sql" if block.asks_duckdb:
                found = None if duckdb.extract_statements(block.text) else "no statement"
            case "sql":
                found = script_mistake(block)
            case "json":
                json.loads(block.text)
                return []
            case "python":
                ast.parse(block.text)
                return []
            case _:
                return _yaml_mistakes(yaml.safe_load(block.text))
    except (ValueError, SyntaxError, duckdb.Error, yaml.YAMLError) as error:
        return [str(error)]
    return [found] if found else []


def _yaml_mistakes(value: object) -> list[str]:
    """What is wrong with the commands of pgassay in a CI job."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in _yaml_mistakes(one)]
    if isinstance(value, list):
        return [found for one in value for found in _yaml_mistakes(one)]
    ours = [line for line in str(value).splitlines() if line.lstrip().startswith("pgassay ")]
    return sh_mistakes("\n".join(ours)) if ours else []


# Pages are parsed in the test: every process of pytest loads this module.
@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_of_a_page_is_what_it_says_it_is(page: Path, tmp_path: Path) -> None:
    write_files(blocks(page), tmp_path)
    found = [
        f"{block.place}: {one}"
        for block in blocks(page)
        if block.language in TRIED and block.untried is None
        for one in mistakes(block, tmp_path)
    ]
    shutil.rmtree(tmp_path)
    assert found == []


def test_every_block_has_a_language_that_is_tried_or_is_text() -> None:
    others = [
        f"{block.place}: {block.language or 'no language'}"
        for block in every_block()
        if block.language not in (*TRIED, "text")
    ]
    assert others == []


def test_blocks_that_are_not_tried_say_why_and_are_counted() -> None:
    reasons = [block.untried for block in every_block() if block.untried]
    assert len(reasons) == UNTRIED, reasons


def test_every_command_within_a_text_exists_and_so_do_its_options() -> None:
    found = Counter(
        f"{name_of(page)}: `{span}`: {mistake_in_text(span)}"
        for page in pages()
        for span in code_spans(page)
        if span.startswith("pgassay ") and mistake_in_text(span)
    )
    assert found == {}


def test_every_option_that_a_text_names_is_one_of_a_command() -> None:
    found = [
        f"{name_of(page)}: `{span}`: {unknown}"
        for page in pages()
        for span in code_spans(page)
        if span.startswith("-") and (unknown := unknown_options(span))
    ]
    assert found == []
