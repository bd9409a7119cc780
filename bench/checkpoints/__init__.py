"""The dip after a checkpoint, provoked by one cause at a time on a real server."""
