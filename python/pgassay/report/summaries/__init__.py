"""What a run, an observation, a trace or runs made apart say in short, for every format."""
