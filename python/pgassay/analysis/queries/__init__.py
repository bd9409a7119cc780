"""A verdict for every query of a set, and what the set says as a whole.

Decisions of this room:

- The unit is the trial: a query has one mean time in each trial and arm, and one contrast a block.
- The intervals of a set hold together: of 100 sets in which nothing differs at most 5 have a false
  claim anywhere. Every query of every level shares the error (Bonferroni), by the rule of the run,
  so that the intervals hold at every look, too. Nothing is stepped down: an interval is what the
  verdict and the gates of its query rest on.
- A block's scatter is known badly from six blocks. Queries lend each other knowledge of it
  (`moderation.py`), which makes intervals half as wide where sixty queries scatter alike, and
  nearly nothing where they do not.
- Plans and blocks are evidence beside a verdict on time. They decide none.
"""
