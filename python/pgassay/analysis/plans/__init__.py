"""How does one plan of a statement differ from another, where first, and why?

Decisions of this room:

- Reasons are found by comparing what two plans do as wholes: which indexes, methods of joins, kinds
  of scans. The first node that differs says only where to look: one Gather at the top shifts all.
- What was measured makes a reason only where it says what the server did: a sort that went to disk,
  workers that were started. Times and numbers of rows make none, but for estimates that are wrong.
- Partitions of one table are one table here, as their scans are of no interest one by one.
"""
