"""What parameters from a file cost beside random numbers that a script draws."""
