"""Where do the server's processes spend CPU time, or wait, by function?

Enters: a server's processes on this host, a load that nothing is measured of. Leaves: folded
stacks. Never: part of a measured trial; follows a process that is not the server's.

- perf follows the postmaster and what it has started; sessions that open later are inherited from
  the postmaster. It ends by itself, also if pgassay is killed.
- CPU time is sampled by the kernel's cpu-clock, which every machine has. Hardware counters, and so
  instructions per cycle, are not asked for: most virtual machines have none.
- PostgreSQL's binaries keep no frame pointers, so a part of each stack is copied and unwound
  afterwards. How much is copied bounds the disk space.
"""
