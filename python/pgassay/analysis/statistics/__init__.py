"""Statistical procedures that know nothing of trials.

Decisions of this room:

- Group-sequential bounds are set on simulated t values: the usual way, normal bounds as nominal p
  values, spends up to 5.7 % where blocks are few.
- Bands over quantiles and loads are simulated from the observed correlation and not from sign flips
  of the rows, which cannot reach 95 % below six blocks.
- The penalty of change points comes from differences: the long-run variance of a series that has a
  change in it is so large that the change would never be found.
- Blocks are resampled by ten lines of numpy; `arch` would bring pandas and statsmodels.
"""
