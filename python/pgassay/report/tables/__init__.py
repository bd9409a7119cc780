"""Tables as values, and the cells that several sections share."""
