"""The domain packs: those that ship with LedgerAgent by name, YAML packs by file or folder."""

from __future__ import annotations

from ledgeragent.packs.catalogue import PACKS, is_data, pack_listing
from ledgeragent.packs.loading import load_domain, versions

__all__ = ["PACKS", "is_data", "load_domain", "pack_listing", "versions"]
