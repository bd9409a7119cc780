"""Knobs of the kernel on a server's host: found, written, read back, put back.

Decisions of this room:

- A change of a knob is in the change record (`undo/change_record.py`) under the host's name and
  boot: values of knobs do not outlive a boot, and neither does what is recorded of them.
- The lock is on a directory of procfs, so there is no lock file to own or to leave.
- Knobs are set after the reset has copied the data and before the server starts: the copy runs
  under the same kernel in every arm, and the server never under the knobs of another arm.
"""
