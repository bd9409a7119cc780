"""`python -m pgassay` is `pgassay`."""

from pgassay.entry import main

main()
