"""A Ray cluster: joining it, its nodes, actors on them.

Decisions of this room:

- Ray places actors, notices what died and carries what is said; pgassay has no protocol of its own.
  Code is never sent: every node has the same pgassay installed, which is checked.
- No secret is an argument or a result of an actor's method, for those may rest in Ray's object
  store: a node finds passwords itself, as libpq does.
- Ray is imported when a cluster is joined, and by nothing else: it is an extra.
"""
