"""`python -m pgassay` is `pgassay`."""

from pgassay.cli.main import main

main()
