"""What every test can ask for."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import PostgresServer, Unavailable, running

_WHERE = (
    "set LEDGERAGENT_DATA_DIR to a folder that holds recorded runs (trajectories/*.jsonl.gz) and "
    "benchmark data (benchmarks/), as docs/how-to/data.md says; neither is part of the project"
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays to the end: the collector need not walk it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def faulty_packs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets tests of the library that fails on purpose (`tests/cli/branches.py`) load it."""
    if "tests.cli.branches:VERSIONS" in vars(request.module).values():
        monkeypatch.setenv("LEDGERAGENT_ALLOW_FAULTY", "1")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of recorded runs and benchmark data; skips where there is none."""
    folder = os.environ.get("LEDGERAGENT_DATA_DIR")
    if not folder:
        pytest.skip(_WHERE)
    if not Path(folder).is_dir():
        pytest.skip(f"LEDGERAGENT_DATA_DIR is {folder}, which is no folder; {_WHERE}")
    return Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server of our own; skips where this machine has no Postgres."""
    pytest.importorskip("psycopg")
    try:
        with running() as server:
            yield server
    except Unavailable as problem:
        pytest.skip(str(problem))


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    """The address of a database that nobody has used."""
    return postgres.fresh_database()
