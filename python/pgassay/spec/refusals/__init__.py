"""What an experiment file is refused for before any server is looked at, in three stages.

`tables.py` needs the tables alone, `factors.py` also the files that they name, `arms.py` each arm.
The lists at the ends of these modules are their checks, in order.
"""
