"""The server's log: found, followed, read in any of its forms, and returned as events.

Decisions of this room:

- The log is read after the load, by our own code: no well-kept library reads every form and
  language. Words, messages and figures are data; each figure is found by itself, so that a new
  wording in a new version costs one figure and not the line.
- A log is evidence, not proof: sessions can write into it. So what only the server's own processes
  write is accepted only from them, and nothing that can hold data is stored.
- Events that come in masses are summed by the second, so that a server which logs every statement
  costs no more room than a quiet one.
"""
