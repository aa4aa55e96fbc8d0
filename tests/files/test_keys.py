"""A key that no header can carry is refused unseen; an address is shown without its secrets."""

from __future__ import annotations

import pytest

from ledgeragent.bench.running.endpoint import Endpoint
from ledgeragent.cli.main import main
from ledgeragent.errors import UsageError
from ledgeragent.files.keys import key_of_environment, require_key, shown_address


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk one", "sk\tone", "sk-ö", "a\r\nb", "\x00"])
def test_a_key_with_a_break_inside_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError) as refusal:
        require_key(key, "KEY")
    assert "KEY holds a key with" in str(refusal.value) and "sk" not in str(refusal.value)


def test_an_endpoint_is_not_asked_with_such_a_key() -> None:
    with pytest.raises(UsageError) as refusal:
        Endpoint(url="http://127.0.0.1:9/v1", model="m", key="sk-first\nsk-second")
    assert "sk-" not in str(refusal.value)


def test_a_key_loses_the_spaces_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-1\n")
    assert key_of_environment("SOME_KEY") == "sk-1"
    assert key_of_environment("NO_SUCH_KEY") == ""


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://user:pw@api.example.com:8/v1", "https://***@api.example.com:8/v1"),
        ("https://api.example.com/v1?key=secret", "https://api.example.com/v1?***"),
        ("https://api.example.com/#secret", "https://api.example.com/?***"),
        ("user:pw@host", "***"),
        ("http://[::1", "an address that cannot be read"),
    ],
)
def test_an_address_is_shown_without_what_is_secret(url: str, shown: str) -> None:
    assert shown_address(url) == shown


@pytest.mark.parametrize(
    "upstream", ["user:hunter2@host/v1", "ftp://user:hunter2@host?key=hunter2"]
)
def test_an_upstream_that_cannot_be_is_refused_without_its_secrets(
    capsys: pytest.CaptureFixture[str], upstream: str
) -> None:
    assert main(["gateway", "--domain", "shop", "--upstream", upstream]) == 2
    assert "hunter2" not in "".join(capsys.readouterr())
