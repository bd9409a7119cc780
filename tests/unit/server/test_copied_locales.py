"""Locales that a copy of a server needs of this machine."""

from __future__ import annotations

import locale

import pytest

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.copied.requirements import refuse_without_locales


def test_locales_that_this_machine_lacks_are_named() -> None:
    before = locale.setlocale(locale.LC_COLLATE)
    refuse_without_locales(["C", "POSIX"])
    with pytest.raises(TargetRefused) as refused:
        refuse_without_locales(["C", "xx_XX.UTF-8"])
    assert refused.value.code == "locales-missing"
    assert refused.value.values["names"] == ("xx_XX.UTF-8",)
    assert locale.setlocale(locale.LC_COLLATE) == before
