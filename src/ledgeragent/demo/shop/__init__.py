"""Fern & Fennel, the embedded garden shop: database, tools and policy. Its rules are in `pack`."""
