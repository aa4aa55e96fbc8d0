"""Fuzzing: files that are almost right, for every reader, through the front door."""
