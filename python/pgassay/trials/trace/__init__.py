"""Tracing a running server: how long single waits, reads, writes and phases take.

Decisions of this room:

- bpftrace counts in the kernel: what leaves it are histograms, once a second, so the cost lies in
  the probes alone and memory does not grow with the load.
- Probes are set on waits and calls of the operating system, never on the taking of a free lock: a
  hit costs microseconds. A duration is the end of a pair of probes minus its beginning in the same
  process; what has only one end is counted and reported.
- The static probes of the server (USDT) come first; a server built without them is probed at the
  entry and return of functions that bracket the same work.
- Probes belong to open descriptors of bpftrace: when it ends, in whatever way, none is left. It
  ends by itself when nobody reads what it writes.
"""
