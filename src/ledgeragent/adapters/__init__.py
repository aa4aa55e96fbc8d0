"""Adapters: LedgerAgent inside the agent frameworks people use, one file, or folder, and one library each.

None imports another; `common` holds what they share. A library that is missing or too old is named
with the command that installs it.
"""
