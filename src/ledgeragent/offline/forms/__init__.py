"""The forms in which tools keep conversations: one module each, with one description."""
