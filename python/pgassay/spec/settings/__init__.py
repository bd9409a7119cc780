"""Names and values of PostgreSQL settings, checked against recorded catalogues.

A setting is checked twice: against a catalogue recorded from PostgreSQL 15, 16 and 18
(`tools/record_settings.py`) before anything is touched, and by the server itself when it is opened.
"""
