"""Spec and seed → arms, blocks, ordered trials, time and risk. Pure: no I/O."""
