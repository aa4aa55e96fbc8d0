"""The page in a real browser: a long hostile run, every key, a narrow screen, light and dark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from tests.cli.branches import NAME
from tests.cli.command import jsonl
from tests.report import hostile
from tests.report.test_lengths import LONG, RUNS, longest

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the extra `browser` is not installed"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        own = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            found = driver.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except playwright.Error as problem:
            pytest.skip(f"no Chromium can be started: {problem}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("view")
    source, target = folder / "run.json", folder / "run.html"
    source.write_text(json.dumps(hostile.run(200)))
    assert main(["view", str(source), "-o", str(target)]) == 0
    return Path(target).as_uri()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    opened, problems = context.new_page(), []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("request", lambda r: None if r.url.startswith("file:") else problems.append(r.url))
    opened.goto(address)
    yield opened
    assert problems == []
    assert opened.evaluate("window.acted") is None
    context.close()


def _current(page: Any) -> int:
    return int(page.locator('[aria-current="true"]').get_attribute("data-step"))


def test_a_run_of_200_turns_is_shown_whole_and_as_text(page: Any) -> None:
    assert page.locator(".step").count() == 1400
    assert page.locator(".step.user .said").first.text_content() == f"turn 0 {hostile.TEXT}"
    assert page.locator("img").count() == 0


def test_keys_walk_the_steps_and_the_ledger_follows(page: Any) -> None:
    for _ in range(4):
        page.keyboard.press("j")
    assert _current(page) == 4 and page.locator("#when").text_content().endswith("2 records")
    page.keyboard.press("n")
    assert _current(page) == 11 and page.locator(".step[aria-current] .verdict.block").count() == 1
    page.keyboard.press("k")
    page.keyboard.press("G")
    assert _current(page) == 1399
    page.keyboard.press("g")
    assert _current(page) == 0 and "No record" in page.locator("#ledger").text_content()


def test_the_ledger_is_that_of_the_step_and_tells_what_changed(page: Any) -> None:
    page.locator(".step.tool .who button").nth(1).click()
    entry = page.locator('.entry[data-path="orders.G-0"]')
    assert "new" in entry.text_content() and '"status": "open"' in entry.text_content()
    page.locator(".step.tool .who button").nth(2).click()
    assert "status, vouchers, due, refunded" in entry.text_content()


def test_filters_by_verdict_and_rule(page: Any) -> None:
    page.locator(".chip.block").click()
    assert page.locator(".step .verdict.block").count() == page.locator(".step").count() == 133
    page.locator(".chip.block").click()
    page.locator("#rule").select_option("shop/cancel-open")
    assert page.locator(".step").count() == 133
    page.keyboard.press("Escape")
    page.locator("#talk").focus()
    page.keyboard.press("Escape")
    assert page.locator(".step").count() == 1400


def test_a_fact_leads_to_its_record(page: Any) -> None:
    page.keyboard.press("n")
    page.locator(".step[aria-current] .facts th button").first.click()
    assert page.locator(".entry.target").get_attribute("data-path") == "orders.G-1"


def test_what_is_very_long_is_shown_in_part_until_asked_for(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "runs.jsonl", tmp_path / "runs.html"
    source.write_text(jsonl(*RUNS[:5]))
    assert main(["view", str(source), "--domain", NAME, "-o", str(target)]) == 0
    opened = browser.new_page()
    opened.goto(target.as_uri())
    for number in range(5):
        opened.locator("#run").select_option(str(number))
        for step in range(opened.locator(".step").count()):
            opened.keyboard.press("j")
            assert longest(opened.locator("main").inner_text()) <= 4000, (number, step)
    call = opened.locator(".call", has=opened.locator("> .more")).first
    call.locator("> .more").click()
    assert longest(call.locator("> pre").inner_text()) == len(LONG)
    opened.close()


def test_a_narrow_screen_shows_one_side_at_a_time(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("#talk").is_visible() and not page.locator("#side").is_visible()
    for control in ("#outcomes .chip.allow", "#outcomes .chip.block", "#rule"):
        shape = page.locator(control).bounding_box()
        assert shape["x"] >= 0 and shape["x"] + shape["width"] <= 360
    page.locator("#show-side").click()
    assert page.locator("#side").is_visible() and not page.locator("#talk").is_visible()


def test_light_and_dark_follow_the_system_and_the_key(page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colour)
    page.keyboard.press("t")
    assert page.evaluate(colour) == light != dark
