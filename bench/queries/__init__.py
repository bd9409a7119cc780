"""Query sets on real servers: false claims, true changes, the time that a decision takes."""
