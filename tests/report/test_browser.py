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
        if number:
            opened.locator("#run").click()
        opened.locator("#run-list .run").nth(number).click()
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
    for control in ("#outcomes .chip.allow", "#outcomes .chip.block", "#rule", "#search"):
        shape = page.locator(control).bounding_box()
        assert shape["x"] >= 0 and shape["x"] + shape["width"] <= 360
    assert page.locator("#rule").bounding_box()["height"] >= 38
    page.locator("#rule").select_option("shop/cancel-open")
    assert page.locator(".step").count() == 133
    page.locator("#clear").click()
    page.locator("#show-side").click()
    assert page.locator("#side").is_visible() and not page.locator("#talk").is_visible()


@pytest.fixture
def several(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page of three runs: nothing rejected and paid, something blocked and not, no reward."""
    source, target = tmp_path / "runs.jsonl", tmp_path / "runs.html"
    rows = [hostile.run(1), hostile.run(4), hostile.run(2)]
    for row, reward in zip(rows, (1.0, 0.0, None), strict=True):
        row.update(id=f"run-{reward}", task_id="", reward=reward)
    source.write_text(jsonl(*rows))
    assert main(["view", str(source), "-o", str(target)]) == 0
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    opened = context.new_page()
    opened.goto(target.as_uri())
    yield opened
    context.close()


def test_runs_are_listed_with_outcome_and_counts_and_can_be_filtered(several: Any) -> None:
    rows = several.locator("#run-list .run")
    assert several.locator("#runs").is_visible() and rows.count() == 3
    assert "reward 1" in rows.nth(0).text_content() and "no reward" in rows.nth(2).text_content()
    assert "blocked" in rows.nth(1).text_content()
    assert "blocked" not in rows.nth(0).text_content()
    several.locator("#run-outcomes .chip.block").click()
    several.locator("#run-outcomes .chip", has_text="reward 0").click()
    assert several.locator("#run-count").text_content() == "1 of 3"
    rows.first.click()
    assert several.locator("#run").text_content() == "run-0.0"
    several.keyboard.press("r")
    several.locator("#run-outcomes .chip.block").click()
    several.locator("#run-outcomes .chip", has_text="reward 0").click()
    several.locator("#find-run").fill("RUN-1")
    assert rows.all_text_contents()[0].startswith("run-1.0") and rows.count() == 1
    several.keyboard.press("Escape")
    several.reload()
    assert not several.locator("#runs").is_visible()
    assert several.locator("#run").text_content() == "run-0.0"


def test_words_are_found_in_what_was_said_called_and_answered(page: Any) -> None:
    page.keyboard.press("f")
    page.keyboard.type("TURN 123 ")
    assert page.locator(".step").count() == 1
    assert "turn 123 " in page.locator(".step .said").text_content()
    assert page.locator("#count").text_content() == "1 of 1400 steps"
    assert page.evaluate("document.activeElement.id") == "search"
    page.locator("#search").fill("shop/cancel-open")
    assert page.locator(".step").count() == 133
    page.locator("#clear").click()
    assert page.locator(".step").count() == 1400 and page.locator("#search").input_value() == ""


def test_paper_has_the_whole_conversation_and_the_ledger_of_its_end(page: Any) -> None:
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    style = "(id, name) => getComputedStyle(document.querySelector(id))[name]"
    assert page.evaluate(f"({style})('#side .head', 'position')") == "static"
    for part in ("#talk", "#side", "#ledger .entry pre"):
        assert page.locator(part).first.is_visible(), part
    for part in (".filters", ".tabs", "#find", "#theme"):
        assert not page.locator(part).first.is_visible(), part
    assert page.locator("#when").text_content().startswith("Ledger after step 1400 ")
    shapes = [page.locator(part).bounding_box() for part in ("#talk", "#side")]
    assert shapes[1]["y"] >= shapes[0]["y"] + shapes[0]["height"]


def test_light_and_dark_follow_the_system_and_the_key(page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colour)
    page.keyboard.press("t")
    assert page.evaluate(colour) == light != dark
