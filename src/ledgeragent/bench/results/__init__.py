"""Runs that were made: metrics, classes of failures, tables and figures."""
