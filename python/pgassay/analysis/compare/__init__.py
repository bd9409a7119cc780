"""Contrasts of arms: estimates, intervals, several factors, rounds of slices.

Decisions of this room:

- Every estimate is one number per complete block: a level, an interaction, a trend or an arm is a
  contrast of a block's arms, judged by one function. So split plots need no model of their strata.
- Metrics beside the primary one are judged in one place: one correction for all metrics and levels
  is stored with each comparison (`p_by`, `clear`), so that findings, tables and analysis.json
  agree.
- Interactions and trends do not stop a run: it ends when its main verdicts are reached.
"""
