"""How values are written to and read from single files."""
