"""Judges of the four domains: the policy clauses, read straight off the whole database."""
