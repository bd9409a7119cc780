"""What commands print on a terminal: shared by several of them."""
