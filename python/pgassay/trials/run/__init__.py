"""One trial and one block, from the preparation of the server to the record."""
