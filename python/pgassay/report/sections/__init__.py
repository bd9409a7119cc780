"""The sections of reports: what each shows, and in which order (`run_parts`)."""
