"""The machine that a server runs on: commands, files, devices, knobs, CPUs.

Decisions of this room:

- A host is one small protocol (run, read, write, lock) with two kinds: this machine, and one behind
  ssh. ssh is the user's own program with the user's configuration, because no library knows the
  user's jump hosts, keys and agents. Locks and connections end when our end of a pipe closes, so a
  killed run leaves none behind.
- A changed knob is also recorded in a file outside the run directory (the knob record), because the
  next run does not know the directory of a run that was killed. The record is valid for one boot,
  as the values are. The lock is on a directory of procfs, so there is no lock file to own or to
  leave.
- Knobs are set after the reset has copied the data and before the server starts: the copy runs
  under the same kernel in every arm, and the server never under the knobs of another arm.
- CPU placement is inherited: a process is started from a thread that is already in place, so that
  no instruction of it runs elsewhere and the engine need not know of placement.
"""
