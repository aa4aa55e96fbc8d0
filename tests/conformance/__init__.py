"""One suite for every way into LedgerAgent: the same situations, verdicts and executed calls."""
