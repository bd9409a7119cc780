"""Read files: TOML tables, units, paths, and suggestions for misspelt names."""
