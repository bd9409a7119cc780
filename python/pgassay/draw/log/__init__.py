"""A server's log as a workload: its transactions, with values that occurred together, or a trace.

The native module reads the log (`crates/log`): it cuts it into entries, takes the constants out of
statements and gathers transactions in bounded memory. This room opens the files, asks the parser
about each distinct text once, and chooses what becomes a scenario.
"""
