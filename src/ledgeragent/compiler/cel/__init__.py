"""Expressions of the Common Expression Language: parsed, typed, compiled, asked."""
