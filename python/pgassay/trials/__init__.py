"""Runs one trial: reset, warm up, load, sample. The only caller of the native module.

Decisions of this room:

- A program of the user's is a load like any other: a trial gets the engine or a program behind one
  protocol, and everything after it reads the same record.
- An observation is a kind of its own and not a trial without an arm: it has no plan, load or
  verdict, and its segments come and go. What samples, stores tables and draws is shared.
"""
