"""TOML is read in time that grows with its length."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.files.toml import parse_toml

LONG = {
    "dots": "a" + ".a" * 100_000 + " = 1\n",
    "spaces": "a" + " . a" * 100_000 + " = 1\n",
    "quoted": '"a"' + '."a"' * 100_000 + " = 1\n",
    "table": "[a" + ".b" * 100_000 + "]\n",
    "inline": "x = {a" + ".b" * 100_000 + " = 1}\n",
}


@pytest.mark.parametrize("kind", LONG)
def test_a_key_of_many_parts_is_refused_at_once(kind: str) -> None:
    with pytest.raises(ValueError, match="more than 100 parts"):
        parse_toml(LONG[kind])


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 100_000, "x = '" + "a" * 1_000_000, "'\"" * 100_000]
)
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_toml(text)


def test_long_values_are_values() -> None:
    addresses = ", ".join(f'"10.0.{n // 256}.{n % 256}"' for n in range(1_000))
    assert len(parse_toml(f"a.b.c = [{addresses}]")["a"]["b"]["c"]) == 1_000


@pytest.mark.parametrize("words", [["gateway", "check"], ["test", "--domain", "shop", "--params"]])
def test_commands_tell_it(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "gateway":
        pytest.importorskip("aiohttp", reason="the gateway needs its extra")
    file = tmp_path / "long.toml"
    file.write_text(LONG["dots"])
    assert main([*words, str(file)]) == 2
    assert f"{file}: not TOML: a key has more than 100 parts" in capsys.readouterr().err
