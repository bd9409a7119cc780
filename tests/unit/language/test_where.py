"""`make where`: from a sentence of a report to its place."""

import sys

import pytest
from tools.messages import where


@pytest.mark.parametrize(
    ("text", "code", "function"),
    [
        ("the hypervisor took more than 5 % of the host's", "[steal]", "_steal"),
        ("Each dot is one block: a level against the baseline 32MB", "[effect]", "_caption"),
        ("The typical trial (20 % trimmed mean)", "[typical]", "limits"),
        (
            "4GB against 32MB is undecided: +21.7 %. Blocks in which an arm committed nothing",
            "[withdrawn]",
            "_template",
        ),
        ("12 blocks (fixed beforehand)", "headline.py", "_blocks"),
        ("Unaccounted", "", "the module"),
        ("The client takes a large part of a", "client-shares-host", "the module"),
        ("run 3 of this file on this machine", "[repeated-run]", "repeated_run_caveats"),
    ],
)
def test_a_piece_of_a_sentence_leads_to_its_code_and_the_function_that_says_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    code: str,
    function: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["where", text])
    where.main()
    first, _, *uses = capsys.readouterr().out.splitlines()[:4]
    assert code in first
    assert any(f"({function})" in line for line in uses)


def test_what_stands_around_a_sentence_is_named_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "There is no band: intervals need 3 blocks, there are 2."
    monkeypatch.setattr(sys, "argv", ["where", said])
    where.main()
    shown = capsys.readouterr().out
    assert "few-blocks" in shown
    assert "(_no_band)" in shown
