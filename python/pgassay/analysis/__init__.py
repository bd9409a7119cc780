"""Pure functions: samples → estimates, intervals, verdicts. Nothing here writes or draws."""
