"""One result written as text, JSON or JUnit XML: one file per format."""
