"""The statements of the load: their texts, what each took by arm, and their plans.

Decisions of this room:

- Statements are compared by their time per transaction, so that one that is called more often and
  one that takes longer are both seen. Each level has one test per statement that matters; all of
  them are one family (Benjamini and Yekutieli).
- Statements of pgassay's own sessions are recognised by their texts and left out: they are part of
  pg_stat_statements, and of no transaction.
"""
