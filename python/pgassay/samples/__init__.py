"""Trials → files: schemas and the run directory, written after every trial.

Decisions of this room:

- Latency histograms are stored as lists of buckets (highest value, count) and not as encoded HDR
  blobs: buckets of one layout merge by adding counts, any Parquet reader can use them, and merging
  thousands takes one pass of numpy. Each power of two has 256 buckets (0.2 to 0.4 %).
- Files appear whole: written aside, synced, renamed, and the directory synced (`durable.py`). A
  journal's first line is worth nothing if a power cut loses the journal's name.
- A run directory is locked by a lock on the directory itself: it ends with its owner, needs no
  file, and works on a full or read-only disk.
- A resumed run keeps the first `environment.json` and adds a note.
"""
