"""The names of files in a run directory, and where runs go.

Enters: nothing. Leaves: names. Never: imports anything, so that a command which only needs a name
starts fast.
"""

from __future__ import annotations

RUNS_FOLDER = "pgassay-runs"
"""Where runs go when no --out is given, in the present folder."""

PLAN = "plan.json"
"""Of an experiment."""
OBSERVATION = "observation.json"
TRACE = "trace.json"
PROFILES = "profiles"
"""The folder of the arms' profiles."""
PROFILES_INDEX = "profiles.json"
MARKS = (PLAN, OBSERVATION, TRACE, PROFILES_INDEX)
"""Each is in every directory of its kind, and says by its `schema` that the directory is of
pgassay."""

SPEC = "spec.toml"
ENVIRONMENT = "environment.json"
STATEMENTS = "statements.json"
JOURNAL = "journal.jsonl"
FAILED = "failed.jsonl"
ANALYSIS = "analysis.json"
REPORT = "report.html"
TRIALS = "trials"
"""Of an experiment, a folder for each trial."""
SEGMENTS = "segments"
"""Of an observation, a folder for each segment."""
SLICES = "slices.parquet"
"""In the folder of a segment."""
THINNED = "thinned"
"""Of an observation, the slices of segments that were dropped."""
TRIAL = "trial.json"
PLANS = "plans.json"
QUERIES = "queries.parquet"
QUERY_PLANS = "query_plans.json"
"""The executions of a query set, and the plans of its queries."""
SEGMENT = "segment.json"
