"""A trial over time: its series by interval, around checkpoints, and its latencies."""
