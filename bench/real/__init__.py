"""Real trials whose true effect is known: `make validate-real`."""
