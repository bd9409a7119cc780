"""The server under test: opened, changed, verified, reset and put back as it was found."""
