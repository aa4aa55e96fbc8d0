"""Benchmarks: environments, agents and their arms, runs, and what is made of their results."""
