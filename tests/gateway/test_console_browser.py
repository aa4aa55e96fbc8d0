"""The console in a real browser, where every text of a client, a model, a tool and a pack is hostile."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.cli.gatewayconsole import session_view
from ledgeragent.domain import Domain
from ledgeragent.gateway.console.desk import Console
from ledgeragent.gateway.console.feed import ConsoleFeed
from ledgeragent.journal import Journal
from ledgeragent.journal.stores import NowhereStore
from ledgeragent.offline.binding import Binding
from ledgeragent.predicates import Broken, View, violation
from ledgeragent.report.view import live_view_html
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.gateway.upstream import status
from tests.gateway.wires import CHAT
from tests.gateway.world import TOOLS, World, served, world
from tests.lending.domain import LIBRARY

playwright = pytest.importorskip(
    "playwright.async_api", reason="the extra `browser` is not installed"
)

KEY = "sk-console-9"
HOSTILE = (
    "'\"></script></textarea><script>window.acted=1</script><img src=x onerror=window.acted=1>"
    "<svg/onload=window.acted=1><iframe srcdoc='<script>parent.acted=1</script>'></iframe>"
    "<a href=javascript:window.acted=1>x</a>${window.acted=1}__proto__ constructor"
)
SHOWN = "__proto__ constructor"


def _refuses(view: View) -> Broken | None:
    # The docstring is the rule's summary, which the page shows.
    return violation(f"{HOSTILE} {view.call.arguments}")


def _hostile_domain() -> Domain:
    _refuses.__doc__ = HOSTILE
    first, *rest = LIBRARY.predicates
    rule = replace(first, id=f"lending/{HOSTILE}", check=_refuses, guards=("lend_book",))
    return replace(LIBRARY, predicates=[rule, *rest], name=HOSTILE, version=HOSTILE)


DOMAIN = _hostile_domain()
BINDING = Binding(name=f"{__name__}:DOMAIN", allow_faulty=True)


@asynccontextmanager
async def shown(**settings: Any) -> AsyncIterator[World]:
    """A gateway with a console whose conversation was hostile in every place."""
    feed = ConsoleFeed(DOMAIN)
    journal = Journal(NowhereStore(), DOMAIN).telling(feed.hear)
    console = Console(feed, session_view(BINDING), live_view_html())
    async with world(
        domain=DOMAIN, journal=journal, console=console, console_key=KEY, **settings
    ) as w:
        await talk(w, "s")
        yield w


async def talk(w: World, name: str) -> None:
    """A conversation in a session of a hostile name; what it is about is read, written, refused."""
    arguments = {"member_id": HOSTILE, "book_id": "B1", "days": HOSTILE, HOSTILE: HOSTILE}
    calls = (
        ToolCall(id=HOSTILE, name="get_book", arguments={"book_id": HOSTILE}),
        ToolCall(id=f"{HOSTILE}2", name="get_member", arguments={"member_id": HOSTILE}),
        ToolCall(id="c3", name="lend_book", arguments=arguments),
        ToolCall(id="c4", name=f"x{HOSTILE}"[:60], arguments=arguments),
    )
    history: list[Message] = [UserMessage(text=HOSTILE)]
    headers = {"x-ledgeragent-session": f"{name}{HOSTILE}"[:200], "x-request-id": HOSTILE}
    for reply in (Reply(text=HOSTILE, calls=calls[:2]), Reply(text=HOSTILE, calls=calls[2:])):
        w.upstream.script.extend([reply, Reply(text=HOSTILE)])
        got = await w.ask(CHAT, history, headers=headers, tools=[*TOOLS, calls[3].name])
        w.upstream.script.clear()
        assert got.reply is not None
        history.append(got.reply)
        history += [
            ToolReturn(call_id=call.id, content=f'{{"title": "{SHOWN}", "x": "<img src=x>"}}')
            for call in got.reply.calls
        ]
        history.append(UserMessage(text=HOSTILE))
    w.upstream.script.append(status(429, {"retry-after": "0", "x-request-id": HOSTILE}))
    await w.ask(CHAT, history, headers=headers)


@asynccontextmanager
async def browsing(url: str) -> AsyncIterator[tuple[Any, list[str]]]:
    """A page, and everything that the browser found wrong, or asked another host for."""
    async with playwright.async_playwright() as driver:
        own = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            browser = await driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as problem:
            pytest.skip(f"no Chromium can be started: {problem}")
        page, problems = await browser.new_page(), list[str]()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request",
            lambda r: (
                None if r.url.startswith(url) and KEY not in r.url else problems.append(r.url)
            ),
        )
        yield page, problems
        await browser.close()


def played(scenario: Any) -> None:
    asyncio.run(asyncio.wait_for(scenario, 90))


async def enter(page: Any, url: str) -> None:
    await page.goto(f"{url}/console")
    await page.fill("#key", KEY)
    await page.click("#login button")
    await playwright.expect(page.locator("#status")).to_have_text("live")


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_no_text_of_anybody_acts_on_the_page(mode: str) -> None:
    async def scenario() -> None:
        async with shown(mode=mode) as w, browsing(w.url) as (page, problems):
            await enter(page, w.url)
            await talk(w, "t")  # What comes while the page watches takes another way into it.
            await playwright.expect(page.locator("#session-rows li")).to_have_count(2)
            await page.click("#show-rules")
            for summary in await page.locator("#rule-rows summary").all():
                await summary.click()
            await page.click("#show-sessions")
            viewer = page.frame_locator("#viewer")
            for button in await page.locator("#session-rows button").all():
                await button.click()
                await viewer.locator(".step").first.wait_for()
                for step in await viewer.locator(".step").all():
                    await step.click()
            frame = page.frames[1]
            for place in (page, frame):
                assert await place.evaluate("window.acted") is None
                assert await place.locator("img, svg[onload], iframe[srcdoc], a[href]").count() == 0
                assert SHOWN in await place.evaluate("document.body.textContent")
            assert await page.evaluate("({}).acted") is None
            assert problems == []

    played(scenario())


def test_what_came_into_the_page_all_the_same_could_not_act() -> None:
    """The policy holds by itself, whatever the script does; and the key is kept nowhere."""

    async def scenario() -> None:
        async with shown() as w, browsing(w.url) as (page, problems):
            await enter(page, w.url)
            assert problems == []
            await page.evaluate(
                """() => {
                  document.body.insertAdjacentHTML("beforeend",
                    "<img src=http://127.0.0.1:9/a onerror='window.acted=1'>"
                    + "<iframe srcdoc='<script>parent.acted=1</script>'></iframe>"
                    + "<form action='http://127.0.0.1:9/b'><button id=out>x</button></form>");
                  const script = document.createElement("script");
                  script.textContent = "window.acted=1";
                  document.body.append(script);
                }"""
            )
            await page.evaluate("document.getElementById('out').click()")
            with pytest.raises(playwright.Error, match="Failed to fetch"):
                await page.evaluate("fetch('http://127.0.0.1:9/c?' + 1).then((r) => r.text())")
            assert await page.evaluate("window.acted") is None
            assert page.url == f"{w.url}/console"
            kept = "JSON.stringify([localStorage, sessionStorage, document.cookie])"
            assert KEY not in await page.evaluate(kept) + await page.content()
            assert await page.evaluate("document.getElementById('key').value") == ""

    played(scenario())


async def _foreign(request: web.Request) -> web.Response:
    return web.Response(text="<title>elsewhere</title>", content_type="text/html")


def test_a_page_from_elsewhere_gets_nothing_even_with_the_key() -> None:
    """Neither the data, nor the stream, nor a frame; and what it tells the viewer is not shown."""

    async def scenario() -> None:
        app = web.Application()
        app.router.add_get("/", _foreign)
        async with shown() as w, served(app) as elsewhere, browsing(w.url) as (page, _):
            await page.goto(elsewhere)
            for path in ("state", "events", "rules"):
                for more in ("", ", mode: 'no-cors'"):
                    outcome = await page.evaluate(
                        f"""fetch("{w.url}/console/{path}", {{headers: {{authorization:
                        "Bearer {KEY}"}}{more}}}).then((r) => r.text()).catch(() => "")"""
                    )
                    assert outcome == ""
            outcome = await page.evaluate(
                f"""new Promise((done) => {{ const source = new EventSource("{w.url}/console/events");
                source.onopen = () => done("open"); source.onerror = () => done("refused"); }})"""
            )
            assert outcome == "refused"
            for path in ("", "/view"):
                await page.evaluate(
                    f"""new Promise((done) => {{ const frame = document.createElement("iframe");
                    frame.onload = done; frame.src = "{w.url}/console{path}";
                    document.body.append(frame); }})"""
                )
                texts = [await frame.content() for frame in page.frames[1:]]
                assert not [text for text in texts if "LedgerAgent" in text]
            run = "{run: 'forged', steps: [{}], domain: 'forged'}"
            await page.evaluate(f"window.opened = window.open('{w.url}/console/view')")
            popup = page.context.pages[-1]
            await popup.wait_for_load_state()
            await page.evaluate(f"window.opened.postMessage({run}, '*')")
            await popup.wait_for_timeout(200)
            assert "forged" not in await popup.content()

    played(scenario())
