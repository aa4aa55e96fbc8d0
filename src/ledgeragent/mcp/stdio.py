"""The host's end at this process's standard input and output, let go as soon as either side is gone.

A thread that nobody waits for reads: one that blocks in a read would keep the process alive.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Any, BinaryIO

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

_CHUNK = 1 << 16
FLUSH = 0.5
"""Seconds that the last messages for the host may take."""


@asynccontextmanager
async def host_streams() -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to the host.

    Meanwhile what is printed goes to standard error: only the protocol may speak to the host.
    """
    incoming, from_host = anyio.create_memory_object_stream[SessionMessage | Exception](inf)
    to_host, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    _start_reader(sys.stdin.fileno(), incoming)
    with _wire() as wire:
        async with anyio.create_task_group() as group:
            written = anyio.Event()
            group.start_soon(_write, outgoing, wire, written)
            try:
                yield from_host, to_host
            finally:
                to_host.close()
                with anyio.move_on_after(FLUSH, shield=True):
                    await written.wait()
                group.cancel_scope.cancel()


class _wire:  # noqa: N801
    """Standard output for the protocol alone."""

    def __enter__(self) -> BinaryIO:
        sys.stdout.flush()
        self._private = os.dup(1)
        os.dup2(2, 1)
        return os.fdopen(self._private, "wb", closefd=False)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._private, 1)
        os.close(self._private)


def _start_reader(stdin: int, incoming: Any) -> None:
    loop = asyncio.get_running_loop()

    def tell(act: Any, *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens
            loop.call_soon_threadsafe(act, *arguments)

    def deliver(item: SessionMessage | Exception) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            incoming.send_nowait(item)

    def read() -> None:
        for line in _lines(stdin):
            if line.strip():
                tell(deliver, _parsed(line))
        tell(incoming.close)

    threading.Thread(target=read, name="host", daemon=True).start()


def _lines(stdin: int) -> Iterator[bytes]:
    """Lines as they come. Not through a buffer of Python's, whose lock would outlast the program."""
    rest = b""
    with suppress(OSError):
        while chunk := os.read(stdin, _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
    yield rest


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        return problem


async def _write(outgoing: Any, wire: BinaryIO, written: anyio.Event) -> None:
    try:
        async with outgoing:
            async for item in outgoing:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(_put, wire, text.encode() + b"\n")
    except OSError:
        pass  # the host is gone, which its other end tells as well
    finally:
        written.set()


def _put(wire: BinaryIO, data: bytes) -> None:
    wire.write(data)
    wire.flush()
