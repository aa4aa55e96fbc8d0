"""Frameworks and clients as people install them, tried against the proxy: each in its own environment."""
