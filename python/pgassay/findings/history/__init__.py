"""What a series of runs shows, in words."""
