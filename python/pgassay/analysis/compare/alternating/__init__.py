"""Switchback and duet: rounds of slices, their order, and effects that outlast a slice."""
