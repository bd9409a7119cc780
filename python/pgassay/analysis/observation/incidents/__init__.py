"""Incidents of an observation: stretches of its slices that are unlike the usual.

Decisions of this room:

- What is usual is known from the observation alone: the hours around a slice and, after some days,
  the same time of the other days. An incident is unlike both, so that neither a day's wave nor a
  nightly job is one.
- A sign that begins first is associated with an incident, and is never called its cause.
"""
