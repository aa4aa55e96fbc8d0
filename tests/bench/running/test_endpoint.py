"""Endpoints that fail, on real local ports: every try that failed is told, and never a key."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from ledgeragent.bench.running.endpoint import ChatModel, Endpoint, EndpointError
from ledgeragent.cli.main import main
from ledgeragent.errors import UsageError
from ledgeragent.types import UserMessage
from tests.bench.chat_server import chat_server, serving

KEY = "sk-a-secret-of-mine"
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def refused() -> Iterator[str]:
    """The address of a port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def says(status: int, text: str, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        data = text.encode()
        request.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(data)

    return answer


def hangs_up(request: BaseHTTPRequestHandler) -> None:
    request.connection.shutdown(socket.SHUT_RDWR)


def repeats_the_key(request: BaseHTTPRequestHandler) -> None:
    says(401, f"no such key: {request.headers['Authorization']}")(request)


@contextmanager
def failing(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with serving(Handler) as url:
        yield url


def endpoint(url: str, **changes: Any) -> tuple[Endpoint, list[str | float]]:
    """An endpoint, and what it tells and how long it waits, in order."""
    done: list[str | float] = []
    return Endpoint(url=url, model="m", tell=done.append, sleep=done.append, **changes), done


FAILURES = {
    "status": (failing(says(503, "busy")), "status 503"),
    "a page": (failing(says(200, "<html>")), "JSONDecodeError: .*"),
    "no message": (failing(says(200, '{"choices": []}')), "an answer without a message"),
    "hung up": (failing(hangs_up), "RemoteDisconnected: .*"),
    "refused": (refused(), "ConnectionRefusedError: .*"),
}


@pytest.mark.parametrize(("server", "problem"), FAILURES.values(), ids=FAILURES)
def test_each_failed_try_but_the_last_is_told_before_it_is_waited(
    server: Any, problem: str
) -> None:
    with server as url:
        model, done = endpoint(url)
        with pytest.raises(EndpointError, match=f"^{re.escape(url)}: {problem}, 6 times$"):
            model.ask("completions", {"prompt": "x"})
    lines, waits = done[::2], done[1::2]
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]
    for number, (line, seconds) in enumerate(zip(lines, waits, strict=True), 1):
        told = rf"{re.escape(url)}: {problem}; try {number} of 6, again in {seconds:g} s"
        assert re.fullmatch(told, str(line)), line


def test_the_wait_that_a_server_asks_for_is_told() -> None:
    with failing(says(429, "", Retry_After="7")) as url:
        model, done = endpoint(url, tries=2)
        with pytest.raises(EndpointError):
            model.ask("completions", {})
    assert done == [f"{url}: status 429; try 1 of 2, again in 7 s", 7.0]


@pytest.mark.parametrize(
    "answer", [repeats_the_key, says(200, KEY), says(400, f"what is {KEY}?"), says(503, KEY)]
)
def test_a_key_is_never_told(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with failing(answer) as url, pytest.raises(EndpointError) as raised:
        Endpoint(url=url, model="m", key=KEY, sleep=lambda seconds: None).ask("completions", {})
    assert KEY not in f"{raised.value}{capsys.readouterr()}"


def test_a_dummy_key_that_is_an_ordinary_word_leaves_words_whole() -> None:
    with (
        failing(says(400, "there are none")) as url,
        pytest.raises(EndpointError, match="are none"),
    ):
        Endpoint(url=url, model="m", key="none").ask("completions", {})


ODD = [
    "localhost:8080/v1",
    "ftp://localhost/v1",
    "http:///v1",
    "http://[::1/v1",
    "http://localhost:port/v1",
    f"http://me:{KEY}@localhost/v1",
    f"http://{KEY}@localhost/v1",
    f"http://localhost/v1?key={KEY}",
    f"http://localhost/v1#{KEY}",
    f"http://me:{KEY}@localhost:port/v1",
]


@pytest.mark.parametrize("url", ODD)
def test_an_address_that_is_none_or_carries_a_secret_is_refused_without_it(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="an endpoint's address"):
        Endpoint(url=url, model="m")
    assert main(["bench", "shop", "--model", "m", "--url", url]) == 2
    told = capsys.readouterr().err
    assert told.startswith("ledgeragent: error: an endpoint's address ")
    assert KEY not in told


def test_a_model_that_comes_back_answers_and_its_words_are_read() -> None:
    tries = iter([hangs_up, says(500, ""), None])

    def answer(request: BaseHTTPRequestHandler) -> None:
        message = {"choices": [{"message": {"content": "hello"}}]}
        (next(tries) or says(200, json.dumps(message)))(request)

    with failing(answer) as url:
        model, done = endpoint(url)
        chat = ChatModel(endpoint=model, policy="", tools=[])
        assert chat.generate([UserMessage(text="hi")], "", "").text == "hello"
    assert done[1::2] == [1.0, 2.0]
    with chat_server(lambda body: "well") as url:
        model, done = endpoint(url)
        ChatModel(endpoint=model, policy="", tools=[]).generate([], "", "")
    assert done == []
