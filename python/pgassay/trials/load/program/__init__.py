"""A load that a program of the user's makes: started, watched, and what it printed and logged."""
