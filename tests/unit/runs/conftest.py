"""A folder of runs, made once for the tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.synthetic.folders import folder_of_runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of_runs(tmp_path_factory.mktemp("here") / "pgassay-runs")
