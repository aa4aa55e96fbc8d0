"""The telehealth environment of tau-trait: its tools in our own words, over its public data files."""
