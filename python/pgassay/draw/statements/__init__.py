"""Statements as trees: what they are, and what their parameters are compared with.

pglast, PostgreSQL's own parser, is imported in this room only; it is the extra `draw`.
"""
