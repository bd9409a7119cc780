"""A load drawn from a server, beside the load itself: alike, and with the same verdicts?"""
