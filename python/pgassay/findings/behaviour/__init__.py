"""What else a run shows: by quantile, by load, around checkpoints, inside trials."""
