"""Tables of the page of adverse conditions that have experiments of their own."""
