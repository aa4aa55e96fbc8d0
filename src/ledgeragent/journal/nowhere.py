"""The store that keeps nothing."""

from __future__ import annotations

from collections.abc import Iterator


class NowhereStore:
    """Keeps no record, for whoever only wants to be told of them."""

    def append(self, line: str) -> None:
        """Nothing to keep."""

    def lines(self) -> Iterator[str]:
        """No record."""
        return iter(())

    def torn(self) -> bytes:
        """Nothing."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def sync(self) -> None:
        """Nothing to wait for."""

    def make_replaceable(self) -> None:
        """Nothing stands beside it."""

    def close(self) -> None:
        """Nothing to release."""
