"""The pages of docs/studies, and the runs that they show."""
