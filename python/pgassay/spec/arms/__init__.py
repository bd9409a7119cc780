"""An experiment as each of its arms runs it, and the checks that need every arm."""
