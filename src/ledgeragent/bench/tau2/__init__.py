"""On the tau2 harness: our arms, the telehealth domain, its data, gold runs."""
