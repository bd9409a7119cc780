"""What the samplers of an experiment cost: `python -m bench.sampling`."""
