"""The manual pages have every command and option, and troff sets them without a warning."""

from __future__ import annotations

import subprocess
import tomllib

import pytest
from tools.manual.pages import HERE, page_of, pages, roff

from pgassay.cli.commands import COMMANDS, load_command
from pgassay.errors import ExitCode
from support.docs.command_lines import called, is_ours, mistake
from support.packages import needs

PAGES = dict(pages())
TEXTS = tomllib.loads((HERE / "texts.toml").read_text("utf-8"))


def test_there_is_a_page_for_every_command_and_one_that_names_them_all() -> None:
    assert set(PAGES) == {"pgassay.1", *(f"{page_of(name)}.1" for name in COMMANDS)}
    for name, (_, sentence) in COMMANDS.items():
        assert f".B pgassay {roff(name)}\n{roff(sentence)}" in PAGES["pgassay.1"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_with_its_text(name: str) -> None:
    page = PAGES[f"{page_of(name)}.1"]
    assert not set("{}") & set(page.partition(".SH DESCRIPTION")[0])
    for parameter in load_command(name).params:
        for written in (*parameter.opts, *parameter.secondary_opts):
            assert roff(written) in page
        if parameter.help and not getattr(parameter, "hidden", False):
            assert roff(parameter.help.replace("\\[", "[")) in page


def test_the_texts_name_every_exit_status_and_only_commands_that_there_are() -> None:
    assert {str(int(code)) for code in ExitCode} <= set(TEXTS["exit_status"])
    assert set(TEXTS["examples"]) <= {"pgassay", *COMMANDS}


def test_every_example_is_a_command_that_there_is_with_options_it_has() -> None:
    for name, examples in TEXTS["examples"].items():
        lines = [line for one in examples for line in called(one["run"]) if is_ours(line)]
        assert any(name in " ".join(line) for line in lines) or name == "pgassay"
        assert [found for line in lines if (found := mistake(line))] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_set_without_a_warning(page: str) -> None:
    needs("groff-base")
    done = subprocess.run(
        ["groff", "-k", "-man", "-Tutf8", "-ww", "-P-cbou"],
        input=PAGES[page].encode(), capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == b""
    shown = done.stdout.decode()
    assert all(head in shown for head in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"))


def test_what_is_to_be_typed_can_be_copied_from_a_page() -> None:
    assert roff(r"'a' `b` ~/c --d \e") == r"\(aqa\(aq \(gab\(ga \(ti/c \-\-d \ee"
    assert roff(".TH at the start") == r"\&.TH at the start"
