"""Tests of the bank."""
