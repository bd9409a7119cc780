"""The sections that show how the server behaved: over time, by load, at checkpoints, in waits."""
