"""Collects the messages of reports, and updates the catalogues of their translations."""
