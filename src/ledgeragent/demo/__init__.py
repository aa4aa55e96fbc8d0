"""`ledgeragent demo`: a small real shop, and three conversations played without and with a ledger."""
