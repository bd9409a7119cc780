"""What can be run and observed here, one check at a time."""
