"""PostgreSQL servers for the tests, and what surrounds one: certificates, logs, a pooler."""
