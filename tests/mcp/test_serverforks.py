"""A server that is a fork and the stub that stands for it end together, whichever is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from tests.mcp.serverforks import forked
from tests.mcp.test_lifetime import is_alive, pid_of_server, shake_hands
from tests.mcp.test_proxy import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each server is started")


def ends(process: int) -> bool:
    """True once it has; its streams close a moment before it is gone."""
    until = time.monotonic() + PATIENCE
    while is_alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(process)


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """A stub whose server has been greeted."""
    command = forked("tests.mcp.slow_server")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stub:
        shake_hands(stub)
        yield stub
        stub.kill()


def test_the_stub_ends_with_its_server(server: subprocess.Popen[bytes]) -> None:
    fork = pid_of_server(server)
    assert fork != server.pid
    os.kill(fork, signal.SIGKILL)
    assert server.stdout is not None and server.stdout.read() == b""
    assert server.wait(PATIENCE) == 0


def test_the_server_ends_with_its_stub(server: subprocess.Popen[bytes]) -> None:
    fork = pid_of_server(server)
    server.terminate()
    assert server.wait(PATIENCE) == 0
    assert ends(fork)


def test_the_server_ends_with_its_input(server: subprocess.Popen[bytes]) -> None:
    fork = pid_of_server(server)
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(PATIENCE) == 0
    assert ends(fork)
