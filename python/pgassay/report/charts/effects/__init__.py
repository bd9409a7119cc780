"""Charts of differences between arms."""
