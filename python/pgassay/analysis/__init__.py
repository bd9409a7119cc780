"""Pure functions: samples → estimates, intervals, verdicts. Nothing here writes or draws.

The unit of analysis is the trial: no verdict rests on seconds or requests.
"""
