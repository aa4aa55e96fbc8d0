"""The gate against the oracle of SOPBench: runs of other people's models, each with its verdict."""
