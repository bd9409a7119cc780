"""Ready experiments: questions that others have asked, each as a folder.

A folder has study.toml (what was asked, expected and found elsewhere), quick.toml (minutes on two
processors) and full.toml (the source's own durations; sizes are shares of the host's memory).
demo.toml is the experiment of `pgassay demo`.
"""
