"""Options from a file, from the environment and from the command line: one meaning, one order."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from ledgeragent.cli.configuration import ExplainingParser, words_of_environment
from ledgeragent.cli.gateway import add_options
from ledgeragent.cli.gatewayplan import SHARED, ServingPlan
from ledgeragent.cli.main import VERBS, verb_parser
from ledgeragent.errors import LedgerAgentError
from ledgeragent.verdict import Decision, Enforcement
from tests.cli.command import ledgeragent

LIBRARY = "tests.lending.domain:LIBRARY"
WHOLE = f"""
upstream = "https://api.openai.com/v1"
max_body = 1000
port = 8123
api_key_env = "OUR_KEYS"

[[routes]]
path = "/shop"
domain = "shop"
mode = "shadow"
tools = ["get_order", "cancel_order"]
enforce = {{ "shop/owner" = "warn" }}

[[routes]]
path = "/books/"
domain = "{LIBRARY}"
upstream = "http://localhost:9"
upstream_base = "/"
max_body = 2000
unknown_tools = "block"
"""


def parser() -> ExplainingParser:
    made_parser = ExplainingParser(add_help=False)
    add_options(made_parser)
    return made_parser


def plan(file: Path, *words: str) -> ServingPlan:
    args = parser().parse_args(["--config", str(file), *words])
    args.words = ["--config", str(file), *words]
    return ServingPlan.read(args, parser())


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEYS", "k1,k2")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "gateway.toml"
    place.write_text(WHOLE.replace("shop/owner", rule_of_shop()))
    return place


def rule_of_shop() -> str:
    from ledgeragent.packs import load_domain

    return load_domain("shop").predicates[0].id


def test_routes_have_their_own_and_share_the_rest(file: Path) -> None:
    whole = plan(file)
    shop, books = whole.routes
    assert whole.shared.port == 8123
    assert [shop.path, books.path] == ["/shop", "/books"]
    assert (shop.settings.mode, books.settings.mode) == ("shadow", "enforce")
    assert (shop.settings.max_body, books.settings.max_body) == (1000, 2000)
    assert shop.settings.keys == books.settings.keys == {"k1", "k2"}
    assert books.settings.upstream_base == "/"
    assert books.settings.unknown is Decision.BLOCK
    assert shop.binding.tools == {"get_order", "cancel_order"}
    assert dict(shop.binding.levels) == {rule_of_shop(): Enforcement.WARN}
    assert books.domain().name == "lending"


def test_what_is_typed_counts_more_than_the_file(file: Path) -> None:
    whole = plan(file, "--max-body", "7", "--mode=enforce", "--port", "9")
    assert [route.settings.max_body for route in whole.routes] == [7, 7]
    assert [route.settings.mode for route in whole.routes] == ["enforce", "enforce"]
    assert whole.shared.port == 9


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max_bodi = 3", "max_bodi.*max_body"),
        ("max_body = true", "max_body: should be text or a number"),
        ("max_body = 'many'", "max-body"),
        ("otel = 'yes'", "otel: should be true or false"),
        ("mode = 'dream'", "mode"),
        ("routes = 3", r"\[\[routes\]\]"),
        ("[[routes]]\nport = 3", r"routes\[0\].port.*at the top"),
        ("[[routes]]\npath = 'shop'", r"routes\[0\].path"),
        ("[[routes]]\npath = '/a'\n[[routes]]\npath = '/a/'", "two routes"),
        ("[[routes]]\ndomain = 'nothing'", "nothing"),
        ("[[routes]]\npath = '/x'\nupstream = 'localhost'", "/x.*http"),
        ("[[routes]]\napi_key_env = 'NOT_SET_ANYWHERE'", "NOT_SET_ANYWHERE"),
        ("a = ", "not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(f'domain = "shop"\nupstream = "http://x"\n{text}')
    if text.startswith("routes"):
        file.write_text(f"{text}\n")
    with pytest.raises(LedgerAgentError, match=problem) as caught:
        plan(file)
    assert "wrong.toml" in str(caught.value)


def test_gateway_check_says_whether_it_could_be_served(file: Path, tmp_path: Path) -> None:
    file.write_text(file.read_text().replace(LIBRARY, "retail"))
    checked = ledgeragent("gateway", "check", str(file))
    assert (checked.code, checked.err) == (0, "")
    assert "/shop (shadow)" in checked.out
    pack = Path("examples/parking/pack.yaml").read_text()
    broken = tmp_path / "pack.yaml"
    broken.write_text(pack.replace('permit.status != "suspended"', "true"))
    file.write_text(f'domain = "{broken}"\nupstream = "http://x"')
    checked = ledgeragent("gateway", "check", str(file))
    assert checked.code == 1
    assert str(broken) in checked.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_every_verb_can_stand_in_the_environment(verb: str) -> None:
    of_verb = verb_parser(verb)
    options = [a for a in of_verb._actions if any(o.startswith("--") for o in a.option_strings)]
    for action in options:
        name = next(o for o in action.option_strings if o.startswith("--"))
        if name in ("--help", "--data-dir"):  # where data can be had, the verbs ask themselves
            continue
        variable = "LEDGERAGENT_" + name[2:].upper().replace("-", "_")
        value = "yes" if action.nargs == 0 else "x"
        expected = [name] if action.nargs == 0 else [f"{name}=x"]
        assert words_of_environment(of_verb, {variable: value}) == expected


def test_words_of_the_environment() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data-dir")
    options.add_argument("--redact", action="append")
    options.add_argument("--otel", action="store_true")
    options.add_argument("--mode")
    environment = {
        "LEDGERAGENT_REDACT": "a.b 'c d'",
        "LEDGERAGENT_OTEL": "false",
        "LEDGERAGENT_MODE": "a b",
        "LEDGERAGENT_DATA_DIR": "/x",
    }
    words = words_of_environment(options, environment)
    assert words == ["--redact=a.b", "--redact=c d", "--mode=a b"]


def test_the_command_line_counts_more_than_the_environment() -> None:
    env = {"LEDGERAGENT_FORMAT": "json"}
    assert ledgeragent("check", "shop", env=env).out.startswith("{")
    assert not ledgeragent("check", "shop", "--format", "text", env=env).out.startswith("{")


def test_what_is_for_all_routes_is_an_option() -> None:
    assert {action.dest for action in parser()._actions} >= set(SHARED)
