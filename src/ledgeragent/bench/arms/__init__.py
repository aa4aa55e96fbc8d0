"""The arms of the experiments: LedgerAgent and the methods it is compared with."""
