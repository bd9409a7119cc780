"""From an experiment file to a checked, frozen `Spec`.

Decisions of this room:

- The package is named for what users write (`run SPEC`, `spec.toml`), although some tools take a
  folder `spec` for tests.
- An arm's experiment is itself a `Spec` (`arms/`): levels of the client, of scripts and of
  workloads are put into a copy of the experiment and checked by the rules of the keys that they
  replace. So the code that runs a trial knows no factors; only settings and knobs of the host are
  applied at the reset.
- A kind of factor is one entry of `factors/kinds.py`: where its levels are applied, whether they
  take a restart, and whether they can alternate within a trial.
- All files of an experiment are read once and stored (`workload.json`), so that a run can be
  repeated after they have changed.
"""
