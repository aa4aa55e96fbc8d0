"""The console in a real browser, before a gateway that is run as people run it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.conformance.upstream import Upstream
from tests.gateway.wires import CHAT

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the extra `browser` is not installed"
)

KEY = "sk-console-1"
SECRET = "elena.ricci@example.net"
HOSTILE = "<img src=x onerror=\"window.acted='yes'\"></script><b>bold</b>"
ROOT = Path(__file__).parents[2]


def _call(name: str, **arguments: Any) -> Reply:
    return Reply(calls=(ToolCall(id=f"c-{name}", name=name, arguments=arguments),))


REFUND = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs", "quantity": 1}
READS = (
    _call("find_customer", email=SECRET),
    _call("get_order", order_id="G-1012"),
    _call("get_parcel", parcel_id="P-33"),
)
WRONG, RIGHT = (
    _call("refund_item", **REFUND, amount=29.0),
    _call("refund_item", **REFUND, amount=24.5),
)


class Model(Upstream):
    """A scripted model in Chat Completions."""

    def __init__(self) -> None:
        super().__init__()
        self.script: deque[Reply] = deque()

    def answer(self, path: str, headers: Any, body: Any) -> Any:
        """The next reply."""
        return CHAT.answer(self.script.popleft(), "r")


class Desk:
    """A gateway with a console, and a client that talks through it."""

    def __init__(self, mode: str) -> None:
        self.model = Model()
        options = ["--domain", "shop", "--upstream", self.model.url, "--port", "0", "--mode", mode]
        options += ["--console-key-env", "CONSOLE", "--redact", "args.email"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ledgeragent", "gateway", *options],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "CONSOLE": KEY},
            text=True,
        )
        assert self._process.stdout is not None
        address = re.search(r"http://[^/]+", self._process.stdout.readline())
        assert address is not None
        self.url = address[0]

    def talk(self, says: str, *replies: Reply) -> None:
        """A conversation in which the model says this, and each call is executed."""
        shop, history = Shop(), list[Message]([UserMessage(text=says)])
        for reply in replies:
            self.model.script += [reply, Reply(text="Sorry.")]
            got = self._ask(history)
            self.model.script.clear()
            history.append(got)
            history += [
                ToolReturn(call_id=call.id, content=shop.execute(call).content)
                for call in got.calls
            ]
            if not got.calls:
                history.append(UserMessage(text="Go on."))
        shop.close()

    def _ask(self, history: Sequence[Message]) -> Reply:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        body = CHAT.request(history, ("get_order", "find_customer", "refund_item"), False)
        connection.request("POST", CHAT.path, json.dumps(body))
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        assert answer.status == 200, data
        return CHAT.read(json.loads(data))

    def close(self) -> None:
        """Ends both."""
        self._process.terminate()
        assert self._process.wait(30) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()
        self.model.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        own = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            started = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as problem:
            pytest.skip(f"no Chromium can be started: {problem}")
        yield started
        started.close()


@pytest.fixture(params=["enforce", "shadow"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    running = Desk(request.param)
    yield running
    running.close()


def _opened(browser: Any, desk: Desk) -> tuple[Any, list[str]]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    page, problems = context.new_page(), list[str]()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(desk.url) else problems.append(r.url))
    page.goto(f"{desk.url}/console")
    return page, problems


def test_verdicts_rules_and_conversations_are_shown_as_they_come(browser: Any, desk: Desk) -> None:
    desk.talk(f"Before anybody looks. {HOSTILE}", *READS, WRONG)
    page, problems = _opened(browser, desk)
    assert "refund" not in page.content()
    page.fill("#key", "sk-wrong")
    page.click("#login button")
    playwright.expect(page.locator("#problem")).to_contain_text("key")
    assert [p for p in problems if "401" not in p] == []
    problems.clear()

    page.fill("#key", KEY)
    page.click("#login button")
    playwright.expect(page.locator("#status")).to_have_text("live")
    before = page.locator("#verdict-rows tr").count()
    assert page.locator("#verdict-rows td.revise").count() == 1
    is_shadow = page.locator("#verdict-rows td.revise .tag").count() == 1

    desk.talk("And now.", *READS, WRONG, RIGHT)
    rows = page.locator("#verdict-rows tr")
    playwright.expect(rows.nth(before + 4)).to_be_visible()
    assert "shop/price-paid rejected" in page.locator("#verdict-rows").inner_text()

    page.click("#show-rules")
    row = page.locator('tr[data-rule="shop/price-paid"]')
    cells = {"rejected": "0" if is_shadow else "2", "shadow": "rejected 2" if is_shadow else ""}
    for outcome, text in cells.items():
        playwright.expect(row.locator(f'[data-outcome="{outcome}"]')).to_have_text(text)
    row.locator("summary").click()
    assert row.locator("li").count() == 2

    row.locator("li .link").first.click()
    viewer = page.frame_locator("#viewer")
    viewer.locator(".step").first.wait_for()
    assert "orders.G-1012" in viewer.locator("#ledger").inner_text()
    steps = viewer.locator(".step").count()
    assert steps >= 8

    shown = page.content() + viewer.locator("main").inner_text()
    assert SECRET not in shown and "[redacted]" in shown
    page.locator("#session-rows button").last.click()
    viewer.locator("text=Before anybody looks").first.wait_for()
    assert page.evaluate("window.acted") is None
    assert viewer.locator("img").count() == page.locator("img").count() == 0
    assert problems == []
    page.context.close()


def test_a_narrow_screen_shows_all_of_it(browser: Any) -> None:
    desk = Desk("enforce")
    try:
        desk.talk("Hello.", *READS, WRONG)
        page, _ = _opened(browser, desk)
        page.set_viewport_size({"width": 360, "height": 740})
        page.fill("#key", KEY)
        page.click("#login button")
        playwright.expect(page.locator("#status")).to_have_text("live")
        for name in ("verdicts", "sessions"):
            page.click(f"#show-{name}")
            assert page.evaluate("document.documentElement.scrollWidth") == 360, name
        page.context.close()
    finally:
        desk.close()
