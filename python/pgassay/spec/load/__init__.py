"""The `[load]` table and its parts: how hard, for how long, in which slices."""
