"""What is put back at the end of a run: all of it, whatever fails."""

from __future__ import annotations

import pytest

from pgassay.refusals.refusal import RestoreRefused, TargetRefused
from pgassay.server.undo.undoing import undo_each
from support.refusals import refused


def test_when_two_things_cannot_be_put_back_both_are_reported() -> None:
    done = []
    broken = RestoreRefused("not-restored", where="a", problems=()), TargetRefused("not-open")

    def server() -> None:
        raise broken[0]

    def host() -> None:
        raise broken[1]

    with refused("not-put-back-each", problems=broken):
        undo_each(server, host, lambda: done.append("third"))
    assert done == ["third"]


def test_a_user_who_gives_up_is_heard_when_all_else_is_put_back() -> None:
    done = []

    def given_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undo_each(given_up, lambda: done.append("second"))
    assert done == ["second"]
