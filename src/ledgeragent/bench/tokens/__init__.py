"""What prompts cost: tokens counted, with and without the ledger."""
