"""One command for whoever has a model: with LedgerAgent and without, side by side."""
