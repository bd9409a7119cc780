"""Charts of what happens around checkpoints."""
