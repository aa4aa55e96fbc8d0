"""Who may use a gateway, and whose key goes where."""

from __future__ import annotations

import json

import pytest

from ledgeragent.cli.main import main
from ledgeragent.errors import UsageError
from ledgeragent.gateway.server import Settings
from tests.gateway.upstream import status
from tests.gateway.wires import CHAT, MESSAGES, Wire
from tests.gateway.world import HELLO, SAY, TOOLS, World, run, world

OWN = frozenset({"k1", "k2"})
BEARERS = ({"authorization": "Bearer k2"}, {"authorization": "bearer k2"}, {"x-api-key": "k1"})


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        *((keys, "KEYS has an empty key") for keys in ("k1,k2,", "k1,,k2", ",", " , ", ",k1")),
        ("k1, ,k2", "KEYS has an empty key"),
        ("k 1", "KEYS holds a key with a space"),
        ("k1,k\u00e9", "KEYS holds a key with"),
    ],
)
def test_a_key_that_is_none_stops_the_start(
    keys: str, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYS", keys)
    asked = ["gateway", "--domain", "shop", "--upstream", "http://x", "--api-key-env", "KEYS"]
    assert main(asked) == 2
    complaint = capsys.readouterr().err
    assert reason in complaint
    assert "k1" not in complaint


@pytest.mark.parametrize(
    "settings",
    [
        {"keys": frozenset({"", "k"})},
        {"upstream_key": ""},
        {"metrics_key": ""},
        {"metrics_key": "a b"},
    ],
    ids=str,
)
def test_a_program_cannot_give_such_a_key_either(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="key"):
        Settings(upstream="http://x", **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer "},
        {"authorization": "Bearer"},
        {"x-api-key": ""},
        {"authorization": "Basic k1"},
        {"authorization": "k1k2"},
        {"cookie": "k1"},
    ],
    ids=str,
)
def test_what_is_no_key_opens_nothing(headers: dict[str, str]) -> None:
    async def scenario() -> None:
        async with world(keys=OWN) as w:
            assert (await w.ask(CHAT, (HELLO,), headers=headers)).status == 401
            async with w.http.get(f"{w.url}/v1/models", headers=headers) as response:
                assert response.status == 401

    run(scenario())


@pytest.mark.parametrize("headers", BEARERS, ids=str)
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_the_gateways_own_key_never_goes_upstream(headers: dict[str, str], mode: str) -> None:
    async def scenario() -> None:
        async with world(SAY, keys=OWN, mode=mode) as w:
            both = {"api-key": "sk-theirs", **headers}
            assert (await w.ask(CHAT, (HELLO,), headers=both)).reply == SAY
            (sent,) = w.upstream.headers
            assert not {"k1", "k2", "Bearer k2", "bearer k2"} & set(sent.values())
            assert sent["api-key"] == "sk-theirs"

    run(scenario())


def test_a_key_of_its_own_header_leaves_the_clients_in_place() -> None:
    async def scenario() -> None:
        async with world(SAY, keys=OWN) as w:
            both = {"x-ledgeragent-key": "k1", "authorization": "Bearer sk-theirs"}
            assert (await w.ask(CHAT, (HELLO,), headers=both)).reply == SAY
            (sent,) = w.upstream.headers
            assert sent["authorization"] == "Bearer sk-theirs"
            assert "x-ledgeragent-key" not in sent

    run(scenario())


@pytest.mark.parametrize(
    ("wire", "client", "name", "value"),
    [
        (CHAT, {"authorization": "Bearer k1"}, "authorization", "Bearer real"),
        (CHAT, {"api-key": "k1"}, "api-key", "real"),
        (MESSAGES, {"x-api-key": "k1", "anthropic-version": "2023-06-01"}, "x-api-key", "real"),
        (MESSAGES, {"authorization": "Bearer k1", "anthropic-version": "1"}, "x-api-key", "real"),
    ],
    ids=["openai", "azure", "anthropic", "anthropic-token"],
)
def test_the_upstreams_key_goes_where_its_provider_looks(
    wire: Wire, client: dict[str, str], name: str, value: str
) -> None:
    async def scenario() -> None:
        async with world(SAY, keys=OWN, upstream_key="real") as w:
            assert (await w.ask(wire, (HELLO,), headers=client)).reply == SAY
            (sent,) = w.upstream.headers
            keyed = {
                n: v for n, v in sent.items() if n in ("authorization", "api-key", "x-api-key")
            }
            assert keyed == {name: value}

    run(scenario())


async def posted(w: World, headers: dict[str, str]) -> int:
    body = json.dumps(CHAT.request((HELLO,), TOOLS, False))
    async with w.http.post(f"{w.url}{CHAT.path}", data=body, headers=headers) as response:
        return response.status


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_a_web_page_may_not_use_it(mode: str) -> None:
    """A browser sends this without asking first: text, with a body that is JSON all the same."""

    async def scenario() -> None:
        async with world(SAY, SAY, mode=mode, origins=frozenset({"https://mine.example"})) as w:
            for origin in ("https://evil.example", "null", w.url, "https://mine.example.evil"):
                headers = {"origin": origin, "content-type": "text/plain"}
                assert await posted(w, headers) == 403
            assert w.upstream.asked == []
            assert await posted(w, {"origin": "https://mine.example"}) == 200
            asked = {"origin": "https://mine.example", "access-control-request-method": "POST"}
            async with w.http.options(f"{w.url}{CHAT.path}", headers=asked) as response:
                assert response.status == 204
                allowed = response.headers["access-control-allow-origin"]
            assert allowed == "https://mine.example"
            assert await posted(w, {}) == 200

    run(scenario())


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("rebound.example", 403),
        ("rebound.example:8080", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
        ("localhost:8080", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("LOCALHOST", 200),
    ],
)
def test_a_name_that_was_rebound_is_not_this_gateway(host: str, code: int) -> None:
    async def scenario() -> None:
        async with world(SAY, hosts=frozenset({"localhost"})) as w:
            assert await posted(w, {"host": host}) == code
            async with w.http.get(f"{w.url}/metrics", headers={"host": host}) as response:
                assert response.status == code

    run(scenario())


def test_metrics_may_ask_for_a_key_of_their_own() -> None:
    async def scenario() -> None:
        async with world(keys=OWN, metrics_key="m") as w:
            for key, code in (("m", 200), ("k1", 401), ("", 401)):
                headers = {"authorization": f"Bearer {key}"}
                async with w.http.get(f"{w.url}/metrics", headers=headers) as response:
                    assert response.status == code
            async with w.http.get(f"{w.url}/livez") as response:
                assert response.status == 200

    run(scenario())


def test_an_upstream_that_says_401_is_told_apart() -> None:
    async def scenario() -> None:
        async with world(status(401), keys=OWN) as w:
            got = await w.ask(CHAT, (HELLO,), headers={"x-api-key": "k1"})
            assert got.body == {"error": {"code": 401}}

    run(scenario())
