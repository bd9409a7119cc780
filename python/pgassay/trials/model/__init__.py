"""What a trial leaves, before it is written anywhere."""
