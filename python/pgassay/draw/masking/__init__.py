"""Replaces values of parameters by others of the same length and order.

Enters: a `Drawing`. Leaves: one whose parameters have other values. Never: keeps what would undo
it: the choices are random and stored nowhere.

Decisions of this room:

- One mapping for all values of a drawing of the same kind, so that columns which are compared with
  each other still fit, and equal values stay equal.
- Texts are replaced letter by letter along the tree of their beginnings, so that a prefix of LIKE
  still is one. Numbers keep their sign and their digits before the point. Days are moved by one
  random number of days. Numbers of LIMIT and OFFSET, guesses and booleans stay.
- A value that none of this fits becomes NULL: what is not understood is not given away.
"""
