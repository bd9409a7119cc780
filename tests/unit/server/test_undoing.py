"""What is put back at the end of a run: all of it, whatever fails."""

from __future__ import annotations

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.undo.undoing import undo_each


def test_when_two_things_cannot_be_put_back_both_are_reported() -> None:
    done = []

    def server() -> None:
        raise RestoreFailed("of the server")

    def host() -> None:
        raise TargetError("of the host")

    with pytest.raises(RestoreFailed, match=r"^of the server; of the host$"):
        undo_each(server, host, lambda: done.append("third"))
    assert done == ["third"]


def test_a_user_who_gives_up_is_heard_when_all_else_is_put_back() -> None:
    done = []

    def given_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undo_each(given_up, lambda: done.append("second"))
    assert done == ["second"]
