"""`make where`: from a sentence of a report to its place."""

import sys

import pytest
from tools.messages import where


@pytest.mark.parametrize(
    ("text", "code", "function"),
    [
        ("other processes used more than 5 % of the host's", "[foreign-cpu]", "_foreign_cpu"),
        ("Each dot is one block: a level against the baseline 32MB", "[effect]", "_caption"),
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
