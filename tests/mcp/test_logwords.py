"""The proxy's log: nothing of a message, and nothing of an address, whoever writes to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from ledgeragent.mcp.logwords import reason_of
from tests.cli.command import ROOT

SECRET = "s3cret-of-a-customer"
ODD = (
    f'{{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{{"name":"{SECRET}"}}}}',
    f"no JSON {SECRET}",
    f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{SECRET}"}}',
    f'{{"jsonrpc":"2.0","id":{{"x":"{SECRET}\\u001b"}},"result":5}}',
)


def test_odd_messages_of_both_sides_are_told_without_what_is_in_them(tmp_path: Path) -> None:
    lines = "\n".join(ODD)
    server = tmp_path / "server.py"
    server.write_text(f"import sys\nprint({lines!r}, flush=True)\nsys.stdin.read()\n")
    command = [sys.executable, "-m", "ledgeragent", "mcp", "--domain", "shop", "--"]
    with subprocess.Popen(
        [*command, sys.executable, str(server)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,  # what can be read is passed on
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as proxy:
        assert proxy.stdin and proxy.stderr
        proxy.stdin.write(f"{lines}\n")
        proxy.stdin.flush()
        told = [proxy.stderr.readline() for _ in range(8)]
        proxy.stdin.close()
        told.append(proxy.stderr.read())
    log = "".join(told)
    assert SECRET not in log and "Traceback" not in log and "\x1b" not in log
    assert "a message of the client cannot be read: ValidationError" in log
    assert "a message of the server cannot be read: ValidationError" in log


def test_an_address_is_in_no_reason() -> None:
    httpx = pytest.importorskip("httpx")
    request = httpx.Request("POST", f"http://u:{SECRET}@example.com/?key={SECRET}")
    answer = httpx.Response(401, request=request)
    with pytest.raises(httpx.HTTPStatusError) as told:
        answer.raise_for_status()
    assert reason_of(ExceptionGroup("several", [told.value])) == "it answers 401"
    assert reason_of(KeyError(SECRET)) == "KeyError"
    assert reason_of(ConnectionRefusedError(111, "Connection refused")) == "Connection refused"


@pytest.mark.parametrize(
    "header", [f"Authorization={SECRET}\nx: y", f"X={SECRET}ä", f"X Y={SECRET}", f"{SECRET}"]
)
def test_a_header_that_cannot_be_sent_is_not_shown(header: str) -> None:
    words = ["mcp", "--domain", "shop", "--url", "http://127.0.0.1:9", "--header", header]
    done = subprocess.run(
        [sys.executable, "-m", "ledgeragent", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2 and "--header" in done.stderr
    assert (SECRET not in done.stderr) or "=" not in header
