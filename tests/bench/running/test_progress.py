"""What long runs tell on standard error: whole lines, and no secret of a key or an address."""

from __future__ import annotations

import threading

import pytest

from ledgeragent.bench.running.progress import again, masked, secrets_of, tell, teller

KEY = "sk-a-secret-of-mine"


def test_a_key_in_the_words_of_a_server_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    teller(None, "", KEY)(f"failed: Incorrect API key provided: {KEY}")
    assert capsys.readouterr().err == "failed: Incorrect API key provided: ***\n"


def test_a_dummy_key_stands_inside_ordinary_words() -> None:
    assert masked("there are none", "none") == "there are none"


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{KEY}@models.example/v1",
        f"https://models.example/v1?key={KEY}",
        f"https://models.example/v1?version=1&api-key={KEY}#top",
        f"https://me:{KEY}@models.example:port/v1",
    ],
)
def test_what_an_address_carries_is_not_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    teller(*secrets_of(url))(f"cannot reach {url}")
    told = capsys.readouterr().err
    assert KEY not in told
    assert "models.example" in told


@pytest.mark.parametrize("url", [None, "", "http://127.0.0.1:8080/v1", "http://[::1/v1", "words"])
def test_an_address_without_secrets_has_none(url: str | None) -> None:
    assert not any(secrets_of(url))


def test_a_line_is_whole_whoever_else_writes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{n} " + "x" * 200 for n in range(8)]
    threads = [threading.Thread(target=tell, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(lines)


def test_a_failed_try_says_what_was_wrong_and_when_the_next_one_comes() -> None:
    assert again("here", "status 503", 2, 6, 2.5) == "here: status 503; try 2 of 6, again in 2.5 s"
