"""Control sessions and the connection parameters of every session.

libpq chooses the server once; the load and the samplers go to the address that it reached and
repeat its TLS rules (docs/connections.md). The first session may take 10 s, so that a host that is
down is reported soon; each of a load's many sessions 120 s, because a server that forks for
thousands is slow, not down. libpq's own default is to wait without a limit.
"""
