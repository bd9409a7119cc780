"""Why an experiment or a command cannot be run, before anything is changed or built.

Decisions of this room:

- A refusal is a code with typed values, the key of the experiment file (or the option of a command)
  that it concerns, and a fix. One line of a TOML file is one refusal.
  All sentences are in the TOML files of this folder; code and tests compare codes and keys.
- A check is a function that yields refusals. It lies where what it needs is known, and is one line
  of the list of its stage: `spec/refusals` (the file alone), `plan` (while the plan is drawn),
  `trials/run/refusals/before_servers.py` (this machine), `of_servers.py` beside it (each opened
  server). `plan`, `run`, a resumed run and each member of a fleet go through the same lists.
- A stage is checked whole: all that it refuses is shown, a line each. The next one is not begun.
"""
