"""The machine that a server runs on: commands, files, devices, CPUs, memory.

Decisions of this room:

- A host is one small protocol (run, read, write, lock) with two kinds: this machine, and one behind
  ssh. ssh is the user's own program with the user's configuration, because no library knows the
  user's jump hosts, keys and agents. Locks and connections end when our end of a pipe closes, so a
  killed run leaves none behind.
- CPU placement is inherited: a process is started from a thread that is already in place, so that
  no instruction of it runs elsewhere and the engine need not know of placement.
- A server whose memory is limited enters its control group before it is executed, and finds no page
  of its data in the host's cache: what is cached already is charged to the process that read it.
"""
