"""How much CPU time, or waiting, does a transaction cost in each function?

Enters: the stored profiles of a run. Leaves: times per transaction by function and arm, and their
differences with the error of sampling. Never: a verdict: one profile of an arm is one trial.
"""
