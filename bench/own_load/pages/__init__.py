"""The pages of each application whose load is drawn."""
