"""One number per block: contrasts of its arms, without what positions add, and what counts hide."""
