"""Any log_line_prefix is understood as PostgreSQL writes it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pgassay.trials.server_log.entry import LogClock, epoch_ns
from pgassay.trials.server_log.line_prefix import line_pattern
from support.servers.logs import CLOCK, pattern_for

WRITTEN = {
    "a": "my app",
    "b": "client backend",
    "c": "65f0a1b2.1f",
    "d": "bench",
    "e": "42P01",
    "h": "10.0.0.7",
    "i": "SELECT",
    "l": "12",
    "L": "10.0.0.1",
    "m": "2026-11-21 22:31:42.426 MSK",
    "n": "1795290659.127",
    "p": "4711",
    "P": "",
    "Q": "-8241749201",
    "r": "10.0.0.7(55012)",
    "s": "2026-11-21 22:30:00 MSK",
    "t": "2026-11-21 22:31:42 MSK",
    "u": "alice",
    "v": "3/118",
    "x": "0",
    "%": "%",
}
NAMED = {"p": "pid", "e": "sqlstate", "n": "epoch", "b": "backend_type"}


@example([("P", "10", " "), ("p", "-10", " ")])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(WRITTEN)),
            st.sampled_from(["", "10", "-10", "-3"]),
            st.sampled_from([" ", "|", "] [", "(.*)?", " = "]),
        ),
        max_size=7,
    )
)
def test_a_prefix_reads_back_what_was_written_under_it(parts: list[tuple[str, str, str]]) -> None:
    setting, line = "%n ", WRITTEN["n"] + " "
    for letter, padding, separator in parts:
        padding = "" if letter == "%" else padding
        setting += f"%{padding}{letter}{separator}"
        width = abs(int(padding or "0"))
        value = WRITTEN[letter]
        line += value.ljust(width) if padding.startswith("-") else value.rjust(width)
        line += separator
    match = pattern_for(setting).match(f"{line}LOG:  checkpoint starting: time")
    assert match is not None
    assert (match["severity"], match["message"]) == ("LOG", "checkpoint starting: time")
    for letter, _, _ in parts:
        if letter in NAMED:
            assert match[NAMED[letter]] == WRITTEN[letter]


def test_a_process_without_a_session_stops_at_q() -> None:
    pattern = pattern_for("%m [%p] %q%u@%d/%a ")
    own = pattern.match("2026-11-21 22:31:42.426 MSK [1] СООБЩЕНИЕ:  x")
    session = pattern.match("2026-11-21 22:31:42.426 MSK [1] u@d/psql СООБЩЕНИЕ:  x")
    assert own is not None
    assert own["user"] is None
    assert session is not None
    assert (session["user"], session["database"], session["application"]) == ("u", "d", "psql")


@pytest.mark.parametrize("setting", ["", "%p ", "[%l-1] ", "%s %p "])
def test_a_prefix_without_a_time_is_none_that_can_be_used(setting: str) -> None:
    assert line_pattern(setting) is None


@pytest.mark.parametrize("setting", ["%m %", "%n %5", "%t %- ", "%m %y%z ", "%q%m %q"])
def test_a_careless_prefix_is_taken_as_the_server_takes_it(setting: str) -> None:
    assert line_pattern(setting) is not None


@given(st.text(max_size=40))
def test_no_setting_breaks_the_compiler(setting: str) -> None:
    line_pattern(setting + "%n")


@pytest.mark.parametrize(
    ("setting", "line", "found"),
    [
        ("%n%a%u%d%r%h", "1795290659.127psqlbob[local]", {"names": "psqlbob[local]"}),
        ("%n%a%u%d%r%h", "1795290659.127", {"names": ""}),
        ("%n %p%l ", "1795290659.127 471112 ", {}),
        (
            "%n %a[%p] %u ",
            "1795290659.127 a [x[4711] bob ",
            {"application": "a [x", "pid": "4711", "user": "bob"},
        ),
        (
            "%t-%p %d",
            "2026-11-21 22:31:42 +0530-4711 bench",
            {"stamp": "2026-11-21 22:31:42 +0530", "pid": "4711"},
        ),
    ],
)
def test_fields_that_nothing_separates_are_one_text(
    setting: str, line: str, found: dict[str, str]
) -> None:
    match = pattern_for(setting).match(f"{line}LOG:  x")
    assert match is not None
    assert match["message"] == "x"
    assert {name: match[name] for name in found} == found


HOSTILE = """
import itertools, random
from pgassay.trials.server_log.line_prefix import line_pattern

parts = ["1", "a", "@/ ", " ", "[1] ", "0-", "LOG:  ", "2026-11-21 22:31:42 MSK ", "1795290659.127"]
drawn = random.Random(1)
for _ in range(300):
    prefix = "%n" + "".join(
        f"%{drawn.choice(['', '', '10', '-10', '400'])}{drawn.choice('abcdehilLmnpPQrstuvx')}"
        f"{drawn.choice(['', '', ' ', '|', '@', '-', '0'])}"
        for _ in range(drawn.randint(1, 20))
    )
    for part in parts:
        line_pattern(prefix).match("1795290659.127" + part * 20_000)
"""


def test_no_prefix_lets_a_name_cost_more_than_its_length() -> None:
    """Of 2 700 lines a single one that is tried in each way would take hours."""
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=300)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-21 22:31:42.426 MSK", 1795289502.426),
        ("2026-11-21 16:01:42 NST", 1795289502.0),
        ("2026-11-21 19:31:42.426 UTC", 1795289502.426),
        ("2026-11-21 23:31:42.426 +04", 1795289502.426),
        ("2026-11-22 01:01:42.426 +0530", 1795289502.426),
        ("2026-11-21 15:31:42.426 -04", 1795289502.426),
    ],
)
def test_a_stamp_is_put_on_the_axis_by_its_zone(text: str, seconds: float) -> None:
    found = CLOCK.stamp_ns(text)
    assert found is not None
    assert found == pytest.approx(seconds * 1e9, abs=1000)


@pytest.mark.parametrize("text", ["", "2026-13-21 22:31:42 UTC", "2026-11-21 22:31:42 XYZ", "now"])
def test_a_stamp_that_cannot_be_known_is_none(text: str) -> None:
    assert CLOCK.stamp_ns(text) is None


def test_an_abbreviation_distinguishes_summer_from_winter_time() -> None:
    clock = LogClock({"CET": 3600, "CEST": 7200})
    summer, winter = (clock.stamp_ns(f"2026-10-25 02:30:00 {z}") for z in ("CEST", "CET"))
    assert summer is not None
    assert winter is not None
    assert winter - summer == 3600 * 10**9


@given(st.text(max_size=30))
def test_no_stamp_breaks_the_clock(text: str) -> None:
    CLOCK.stamp_ns(text)


def test_an_epoch_keeps_its_milliseconds() -> None:
    assert epoch_ns("1795290659.127") == 1795290659127000000
