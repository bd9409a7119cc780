"""How do arms differ in what was sampled: the host's processors, memory and disks, the load's
waits, and all of these at each load? Descriptions with intervals over blocks; no verdict rests on
them.
"""
