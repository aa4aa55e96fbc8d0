"""FAMA's first stage: which helpers the failed runs of a model in a domain call for."""
