"""What is deployed by: the files say what the command takes, and systemd and YAML can read them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path
from threading import Thread

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
    (ports,) = gateway["ports"]
    assert f"127.0.0.1:{ports.rpartition(':')[2]}/livez" in gateway["healthcheck"]["test"][-1]
    # What comes up before the database does ends; somebody has to begin it again.
    assert {one["restart"] for one in compose["services"].values()} == {"unless-stopped"}
    for name in gateway["environment"]:
        if name.startswith("LEDGERAGENT_"):
            assert f"--{name[12:].lower().replace('_', '-')}" in ledgeragent("gateway", "-h").out


def test_the_container_is_not_root_and_its_command_is_one() -> None:
    words = dict(instructions(DEPLOY / "Containerfile"))
    assert words["USER"] == "10001:10001"
    assert yaml.safe_load(words["ENTRYPOINT"]) == ["ledgeragent", "gateway"]
    assert "--config" in yaml.safe_load(words["CMD"])


BUILT = sorted(DEPLOY.glob("*Containerfile"))


def instructions(file: Path) -> list[tuple[str, str]]:
    """Each instruction of a container file and what follows it, continued lines as one."""
    text = file.read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


@pytest.mark.parametrize("file", BUILT, ids=lambda file: file.name)
def test_what_a_container_copies_is_in_the_repository_and_named(file: Path) -> None:
    copied = [rest.split() for word, rest in instructions(file) if word == "COPY"]
    sources = [name for words in copied if not words[0].startswith("--") for name in words[:-1]]
    assert sources
    for name in sources:
        assert name != ".", "a virtual environment or .git would go into the image"
        tracked = subprocess.run(
            ["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True
        )
        assert tracked.stdout or (tracked.returncode and (ROOT / name).exists()), name
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert metadata["readme"] in sources


@pytest.mark.parametrize("file", BUILT, ids=lambda file: file.name)
def test_what_a_container_installs_is_an_extra(file: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    installed = re.findall(r"'\.\[([^]]+)\]'", file.read_text())
    assert len(installed) == 1
    assert set(installed[0].split(",")) <= set(extras)


def test_the_health_check_asks_the_port_that_the_container_serves() -> None:
    words = dict(instructions(DEPLOY / "Containerfile"))
    assert "LEDGERAGENT_PORT=8080" in words["ENV"].split() and words["EXPOSE"] == "8080"
    code = json.loads(words["HEALTHCHECK"].split("CMD", 1)[1])[2]
    asked: list[str] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = str(server.getsockname()[1])

        def answer() -> None:
            connection, _ = server.accept()
            asked.append(connection.recv(1000).decode().split()[1])
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.close()

        thread = Thread(target=answer)
        thread.start()
        environment = {**os.environ, "LEDGERAGENT_PORT": port}
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
        thread.join()
    assert (done.returncode, asked) == (0, ["/livez"])


def test_the_folders_that_the_experiments_name_are_made() -> None:
    """Without a mounted volume, and for whoever the container runs as."""
    rest = instructions(DEPLOY / "bench.Containerfile")
    words = dict(rest)
    made = next(text for word, text in rest if word == "RUN").split("-m 1777")[1].split()
    # An empty data folder is refused; one with this in it is one that lacks every domain.
    assert "/data/benchmarks" in made
    variables = dict(part.split("=") for part in words["ENV"].split())
    assert {variables["LEDGERAGENT_DATA_DIR"], words["WORKDIR"]} <= set(made)


@pytest.mark.parametrize("target", ["image", "image-bench"])
def test_podman_is_told_to_keep_the_health_check(target: str) -> None:
    """OCI's own image format has none: podman leaves it out and says so in one line among hundreds."""
    for engine, told in ("podman", True), ("docker", False):
        command = ["make", "--dry-run", "--no-print-directory", target, f"CONTAINER={engine}"]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert shown.startswith(f"{engine} build")
        assert ("--format docker" in shown) is told


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "ledgeragent.service"
    text = (DEPLOY / "ledgeragent.service").read_text()
    command = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    unit.write_text(text.replace(shlex.split(command[10:])[0], "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
        capture_output=True,
        text=True,
    )
    assert judged.returncode == 0, judged.stdout
