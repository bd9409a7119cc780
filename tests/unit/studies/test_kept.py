"""What is kept of a study's run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.studies.kept import keep

from pgassay.errors import SetupError
from pgassay.studies.catalogue import study
from support.synthetic.directories import synthetic_run


def test_a_run_of_another_question_is_not_kept(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    with pytest.raises(SetupError, match=r"'Does a larger .+ tiny-table-index's"):
        keep(study("tiny-table-index"), run.path)
