"""The sections to check or repeat a run: every trial, every figure, caveats, method."""
