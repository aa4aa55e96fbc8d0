"""Judging without an agent: recorded runs, labelled cases and the packs' own samples.

Start at `replay`: `sources` and `traces` read, `binding` picks the domain, `judging` folds one run,
`tally` counts.
"""
