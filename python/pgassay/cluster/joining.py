"""Joins a Ray cluster and leaves it.

Enters: an address as users write it. Leaves: a `Cluster` while the block lasts. Never: starts or
stops the nodes of a cluster that is there; installs signal handlers.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pgassay.cluster.nodes import Cluster
from pgassay.interruption import SIGNALS
from pgassay.refusals.refusal import SetupRefused

_DEBUGGER = "PYTHONBREAKPOINT"
LOCAL = "local"
"""The address of a cluster of this machine alone, which ends with the run."""


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Joins the cluster at `auto` (the one that this machine is a node of), HOST:PORT or `local`.

    Raises SetupError where Ray is not installed or no cluster is there.
    """
    ray = _ray()
    if ray.is_initialized():  # of a program that uses pgassay as a library
        yield Cluster(ray)
        return
    with _process_kept():
        try:
            ray.init(
                address=address,
                namespace="pgassay",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({"include_dashboard": False} if address == LOCAL else {}),
            )
        except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
            raise _refusal(address, error) from None
    try:
        with _nothing_printed(ray):
            yield Cluster(ray)
    finally:
        with _process_kept():
            ray.shutdown()


def _ray() -> Any:
    # Read by Ray when it is imported: nothing is reported to its makers, no notice is printed.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise SetupRefused("no-ray") from None
    return ray


def _refusal(address: str, error: Exception) -> SetupRefused:
    lines = (line.strip() for line in str(error).splitlines())
    why = next(filter(None, lines), "no reason given")
    code = "no-cluster-here" if address == "auto" else "no-such-cluster-of-ray"
    return SetupRefused(code, address=address, why=why)


@contextmanager
def _nothing_printed(ray: Any) -> Iterator[None]:
    """When a node dies Ray prints the last pages of its log to the standard output, whatever its
    options; what a run then says are its own lines. The name is Ray's own, and may change: then Ray
    prints."""
    worker = ray._private.worker
    name = "print_to_stdstream"
    printing = getattr(worker, name, None)
    if printing is not None:
        setattr(worker, name, lambda *_, **__: None)
    try:
        yield
    finally:
        if printing is not None:
            setattr(worker, name, printing)


@contextmanager
def _process_kept() -> Iterator[None]:
    """Ray sets its own handler of SIGTERM, which would end a run without putting anything back, and
    a debugger of its own, which programs that a run starts would inherit."""
    debugger = os.environ.get(_DEBUGGER)
    try:
        with _signals_kept():
            yield
    finally:
        os.environ.pop(_DEBUGGER, None)
        if debugger is not None:
            os.environ[_DEBUGGER] = debugger


@contextmanager
def _signals_kept() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
