"""Situations of our own, and the test that runs them through the front door."""
