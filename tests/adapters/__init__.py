"""Tests of the adapters, each skipped where its library is absent."""
