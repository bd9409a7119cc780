"""Checkpoints of a trial, from the server's log and its counters.

Where both are there, the log's times and figures are used, and the counters decide how many
checkpoints there were: a log may have been read with gaps.
"""
