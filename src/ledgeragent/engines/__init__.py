"""Engines: what has the work on many recorded runs done, on this machine or on a cluster."""
