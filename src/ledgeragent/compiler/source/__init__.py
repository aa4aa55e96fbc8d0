"""Text and nodes that know their line; no meaning yet."""
