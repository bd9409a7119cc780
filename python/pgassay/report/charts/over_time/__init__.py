"""Charts whose x axis is time."""
