"""Latencies from an HdrHistogram interval log (format 1.1 to 1.3, histograms encoded V2).

Enters: the log's path, the unit of its values. Leaves: `Latencies`, one per interval.
Never: writes one, or guesses the unit: a histogram does not say it.

The encoding is that of HdrHistogram's own source: zlib around a header and ZigZag LEB128 counts,
a negative count standing for so many empty buckets.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgassay.notes import note_of
from pgassay.refusals.refusal import TrialRefused, UnfitValue
from pgassay.trials.load.interval_rows import Latencies

_UNIT_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_COOKIE_MASK = 0xFFFFFF0F
_COMPRESSED = 0x1C849304 & _COOKIE_MASK
_PLAIN = 0x1C849303 & _COOKIE_MASK
_HEADER = struct.Struct(">iiiiqqd")
_TIME = re.compile(r"#\[(StartTime|BaseTime): ([0-9.]+)")
_YEAR_S = 365 * 86400.0


def read_hdr_log(path: Path, unit: str) -> tuple[Latencies, ...]:
    """Reads every interval of an HdrHistogram log."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrialRefused("hdr-log-unreadable", path=path, why=error) from None
    times: dict[str, float] = {}
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        time_line = _TIME.match(line)
        if time_line:
            times[time_line[1]] = float(time_line[2])
        if not line.strip() or line.startswith(("#", '"StartTimestamp"')):
            continue
        try:
            found.append(_interval(line, times, _UNIT_NS[unit]))
        except (ValueError, IndexError, struct.error, zlib.error, binascii.Error) as error:
            place = f"{path}:{number}"
            why = note_of(error) if isinstance(error, UnfitValue) else error
            raise TrialRefused("not-a-line-of-an-hdr-log", place, why=why) from None
    return tuple(interval for interval in found if len(interval.counts))


def _interval(line: str, times: dict[str, float], unit_ns: int) -> Latencies:
    fields = line.strip().split(",")
    if fields[0].startswith("Tag="):
        fields = fields[1:]
    begins_s, encoded = float(fields[0]), fields[3]
    if "BaseTime" in times:
        begins_s += times["BaseTime"]
    elif begins_s < times.get("StartTime", 0.0) - _YEAR_S:
        begins_s += times["StartTime"]
    lowest, highest, counts = _decoded(base64.b64decode(encoded, validate=True))
    middle = (lowest + highest + 1) // 2
    return Latencies(
        at_ns=round(begins_s * 1e9),
        sum_ns=int((middle * counts).sum()) * unit_ns,
        values_ns=highest * unit_ns,
        counts=counts,
    )


def _decoded(raw: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Lowest value, highest value and count of each used bucket."""
    cookie, length = struct.unpack_from(">ii", raw)
    if cookie & _COOKIE_MASK == _COMPRESSED:
        raw = zlib.decompress(raw[8 : 8 + length])
        (cookie,) = struct.unpack_from(">i", raw)
    if cookie & _COOKIE_MASK != _PLAIN:
        raise UnfitValue("histogram-not-v2")
    _, length, offset, digits, smallest, _, _ = _HEADER.unpack_from(raw)
    if offset:
        raise UnfitValue("histogram-shifted")
    payload = raw[_HEADER.size : _HEADER.size + length]
    index, at = 0, 0
    places, counts = [], []
    while at < len(payload):
        value, at = _zigzag(payload, at)
        if value < 0:
            index -= value
            continue
        if value:
            places.append(index)
            counts.append(value)
        index += 1
    lowest, highest = _bounds(np.array(places, np.int64), digits, smallest)
    return lowest, highest, np.array(counts, np.int64)


def _bounds(
    index: NDArray[np.int64], digits: int, smallest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values a place of the counts array stands for; HdrHistogram's own arithmetic."""
    unit_magnitude = max(smallest, 1).bit_length() - 1
    half_magnitude = (2 * 10**digits - 1).bit_length() - 1
    half = 1 << half_magnitude
    bucket = (index >> half_magnitude) - 1
    place = (index & (half - 1)) + half
    place = np.where(bucket < 0, place - half, place)
    shift = np.maximum(bucket, 0) + unit_magnitude
    lowest = place << shift
    return lowest, lowest + (np.int64(1) << shift) - 1


def _zigzag(payload: bytes, at: int) -> tuple[int, int]:
    """One ZigZag LEB128 number; a ninth byte, if there is one, carries eight bits."""
    value, shift = 0, 0
    while True:
        byte = payload[at]
        at += 1
        if shift == 56:
            value |= byte << shift
            break
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
        shift += 7
    return (value >> 1) ^ -(value & 1), at
