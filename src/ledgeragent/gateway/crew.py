"""A crew's metrics: each worker tells its own to the others, over a socket in a folder of theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ledgeragent.gateway.prometheus import merged

_PATIENCE = 2.0
"""Seconds that a worker which does not answer may take."""


class CrewMetrics:
    """The counters of all workers that share a port, each with the label `worker`.

    `folder` is one that only the crew may use. One that has died, or hangs, is left out.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._server: asyncio.Server | None = None

    async def open(self, own: Callable[[], str]) -> None:
        """Begins to tell the others this worker's counters."""

        async def tell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                writer.write(own().encode())
                await writer.drain()
            writer.close()

        place = self._folder / f"{self._number}.sock"
        place.unlink(missing_ok=True)  # One of this number may have died.
        self._server = await asyncio.start_unix_server(tell, place)

    async def text(self) -> str:
        """The counters of all of them, as Prometheus reads them."""
        places = sorted(self._folder.glob("*.sock"))
        texts = await asyncio.gather(*map(_told, places))
        counters = {
            place.stem: text for place, text in zip(places, texts, strict=True) if text is not None
        }
        count = f"# TYPE ledgeragent_workers gauge\nledgeragent_workers {len(counters)}\n"
        return merged(counters, "worker") + count

    async def close(self) -> None:
        """Tells nothing any more."""
        if self._server is not None:
            self._server.close()


async def _told(place: Path) -> str | None:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            reader, writer = await asyncio.open_unix_connection(place)
            text = (await reader.read()).decode()
            writer.close()
            return text
    return None
