"""The classic view: the figures, labels and limits of pg_expecto 12.4 and PG_HAZEL, by arm.

Decisions of this room:

- A classic figure is computed in each trial and then averaged over the arm's trials, because trials
  are what an experiment repeats. Nothing is smoothed.
- Each classic correlation and trend stands beside a figure that allows for autocorrelation,
  checkpoints and steps of the load, with an interval over trials; where they disagree, it says so.
- Limits and labels are in classic.toml, each with its source; they judge nothing else in pgassay.
"""
