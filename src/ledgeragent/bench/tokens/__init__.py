"""The cost of prompts: tokens counted, with and without the ledger."""
