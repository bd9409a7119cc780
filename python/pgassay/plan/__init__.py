"""From a spec and a seed to arms, blocks, ordered trials, time and risks, without I/O.

Decisions of this room:

- All trials of a block share the load's random seed, so that arms use the same keys.
- In a switchback the unit of observation is the round, and its trial is an arm named `all`: rounds
  pass through the same contrasts and estimates as blocks, with their own standard error. Results
  that need a whole trial of one arm (costs, waits, curves) are left out, not divided by guess.
  Blocks stay the default.
- In a duet each arm has its own server and a trial is one value: chance effects of a server's
  start are the same in all rounds of a trial, so rounds are averaged and trials are estimated as
  blocks are. Data directories are drawn for all arms alike, also of servers that cannot share data:
  which can is known only once they run.
- Which settings may alternate is data: `carry_over.toml` lists those whose effect outlasts a slice,
  with reasons, `reloads.toml` the server-wide settings that may alternate, and `background.toml`
  the settings of work that an idle server does in the slices of the others.
- An A/A run is a plan with one factor: a label without effect. So every package treats it like any
  experiment. It ends after a fixed number of blocks, and keeps the experiment's arms beside its
  labels, so that predictions use the weights of the real design.
- Earlier runs are used only for predictions: no verdict, stopping rule or order of trials depends
  on them.
"""
