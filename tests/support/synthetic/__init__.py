"""Made-up trials, run directories and segments with known answers; no server."""
