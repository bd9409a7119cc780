"""Files of a log are read in any form and compressed; what is none is refused in one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pgassay.draw.log.drawing import draw_log
from pgassay.draw.log.options import LogOptions
from pgassay.refusals.refusal import SetupRefused

LINE = "2026-11-27 16:00:00.{ms} UTC [7] u@d LOG:  duration: 1.000 ms  statement: SELECT {ms}\n"
LOG = "".join(LINE.format(ms=ms) for ms in range(100, 120))


def test_a_compressed_log_is_drawn_as_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    (scenario,) = draw_log([path], LogOptions()).scenarios
    assert scenario.transactions == 20
    assert scenario.statements[0].text == "SELECT :p1"


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("", LogOptions(), "log-empty"),
        ("\0\1 garbage\n" * 9, LogOptions(), "log-prefix-unknown"),
        (LOG, LogOptions(prefix="%m "), "log-prefix-without-session"),
        (LOG, LogOptions(prefix="[%p] "), "log-prefix-without-time"),
        (LOG, LogOptions(application="shop"), "log-prefix-without-name"),
        (LOG, LogOptions(user="nobody"), "log-without-statements"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_a_code(
    tmp_path: Path, text: str, options: LogOptions, code: str
) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)
    with pytest.raises(SetupRefused) as refused:
        draw_log([path], options)
    assert refused.value.code == code
