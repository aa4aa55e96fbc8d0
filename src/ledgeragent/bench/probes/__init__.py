"""Probes: one write proposed by a model where a recorded run stood."""
