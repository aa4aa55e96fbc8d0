"""The shop's benchmark: forty scripted customers and a database check, for any model."""

from ledgeragent.bench.shop.verb import add

__all__ = ["add"]
