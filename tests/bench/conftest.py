"""What the tests of the benchmark's verbs share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.tau2.data import ENVIRONMENT


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """Takes back which data a verb has chosen for its process: the next test is another command."""
    names = (DATA_DIR, ENVIRONMENT)
    before = {name: os.environ.get(name) for name in names}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
