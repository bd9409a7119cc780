"""Two periods of observations, and how much equal periods usually differ.

Decisions of this room:

- A figure is compared on a logarithmic scale that begins at a floor of its own, so that a wait that
  was not there before has a size, and one of a hundredth of a session has none.
- What is usual comes from other pairs of periods that lie as far apart as these two do, at the same
  hours of other days where there are enough: a Monday is then compared as Mondays are.
- Nothing was randomised: a difference is an association.
"""
