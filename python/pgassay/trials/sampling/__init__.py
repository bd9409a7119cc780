"""The samplers of a server and its own statistics.

Decisions of this room:

- pg_stat_statements is read before and after a trial and not on a clock: thousands of rows a second
  would disturb what they measure.
- pg_wait_sampling is a second source, never that of a metric: its profile does not tell idle
  sessions from busy ones, and few servers have it.
- The server's clock is corrected only as far as a round trip allows: no offset smaller than its own
  uncertainty moves a time, and between two readings the clock drifts in a straight line.
"""
