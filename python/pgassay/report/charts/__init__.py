"""Charts: what the analysis holds, drawn. One file per chart."""
