"""What is deployed by: the files say what the command takes, and systemd and YAML can read them."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.command import ROOT, ledgeragent

DEPLOY = ROOT / "deploy"
KEYS = {"OUR_KEYS": "k", "UPSTREAM_KEY": "u"}


def test_the_example_configuration_could_be_served() -> None:
    checked = ledgeragent("gateway", "check", DEPLOY / "gateway.toml", env=KEYS)
    assert (checked.code, checked.err) == (0, "")


def test_the_configuration_in_the_docs_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/configuration.md").read_text()
    file = tmp_path / "gateway.toml"
    text = page.split("```toml\n")[1].split("```")[0]
    file.write_text(text.replace("packs/shop", "shop"))
    env = {**KEYS, "OPENAI_API_KEY": "sk"}
    checked = ledgeragent("gateway", "check", file, env=env)
    assert (checked.code, checked.err) == (0, "")
    assert "/desk (shadow)" in checked.out


def test_the_compose_file_runs_the_gateway_closed_down() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    gateway = compose["services"]["gateway"]
    assert gateway["read_only"] and gateway["cap_drop"] == ["ALL"]
    assert (ROOT / gateway["build"]["dockerfile"]).exists()
    for name in gateway["environment"]:
        if name.startswith("LEDGERAGENT_"):
            assert f"--{name[12:].lower().replace('_', '-')}" in ledgeragent("gateway", "-h").out


def test_the_container_is_not_root_and_its_command_is_one() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    words = {
        line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line and line[0].isupper()
    }
    assert words["USER"] == "10001"
    assert yaml.safe_load(words["ENTRYPOINT"]) == ["ledgeragent", "gateway"]
    assert "--config" in yaml.safe_load(words["CMD"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "ledgeragent.service"
    text = (DEPLOY / "ledgeragent.service").read_text()
    command = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    unit.write_text(text.replace(shlex.split(command[10:])[0], "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
