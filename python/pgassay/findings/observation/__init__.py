"""What observations show, in words, and the experiments that would test it."""
