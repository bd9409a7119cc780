"""What an experiment is refused for once its file is right, in three stages.

`before_servers.py` has two: what needs the experiment, and what also needs its plan; both ask only
this machine. `loads.py` is the part of the first that checks loads. `of_servers.py` has that of
each server that a run has opened, before anything is built there or changed for an arm.
"""
