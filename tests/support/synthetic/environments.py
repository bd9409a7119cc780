"""The environment of a run with only what a test is about.

Enters: keys of environment.json. Leaves: its model. Never: reads or writes a file.
"""

from __future__ import annotations

from typing import Any

from pgassay.samples.forms.environment import EnvironmentFile


def environment_of(**given: Any) -> EnvironmentFile:
    """The model of these keys."""
    return EnvironmentFile.model_validate(given)
