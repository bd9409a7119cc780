"""Runs one trial: reset, warm up, load, sample. The only caller of the native module."""
