"""The load of a trial: the engine, or a program of the user.

Decisions of this room:

- In a switchback of server-wide settings a Python thread reloads the server at the edges of slices.
  The engine lays its slices when it starts, so edges are known ahead. What matters is that a
  setting is in force before the part of the slice that counts; that is read back at every edge, and
  a guard.
- HDR logs are read by our own code, tested against a file that the library wrote: the Python
  package `hdrhistogram` needs setuptools and pbr at run time.
"""
