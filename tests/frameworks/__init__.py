"""The matrix of frameworks: what counts as ok, and how it is shown."""
