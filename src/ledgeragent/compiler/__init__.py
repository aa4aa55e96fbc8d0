"""Packs written as data: read from YAML, checked, and compiled to a `Domain`."""
