"""pgassay runs controlled performance experiments on PostgreSQL."""

__version__ = "0.1.0"
