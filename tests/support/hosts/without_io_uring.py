"""Runs a program to which the kernel refuses io_uring, as in containers.

Enters: a command as arguments. Leaves: that command in this process, behind a seccomp filter.
Never: forbids anything else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

IO_URING_SETUP = 425
"""The number of io_uring_setup on every architecture."""
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
MODE_FILTER = 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid_io_uring() -> None:
    """Make io_uring_setup fail with EPERM in this process and its children."""
    steps = (
        (LOAD_NUMBER, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    )
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    program = Program(len(steps), code)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")


if __name__ == "__main__":
    forbid_io_uring()
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 (the test's own command)
