"""The catalogue: one way to name a domain, one text for one mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgeragent import load_domain
from ledgeragent.errors import UsageError
from ledgeragent.offline import binding
from ledgeragent.packs.checking import check
from tests.lending.domain import LIBRARY

EMPTY: dict[str, Any] = {}


def message(way: Callable[..., Any], name: str) -> str:
    with pytest.raises(UsageError) as problem:
        way(name)
    return str(problem.value)


def bound(name: str) -> Any:
    return binding.Binding(name=name).domain()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere", "there is no domain 'nowhere'; choose one of: airline, "),
        ("nosuch.module:PACK", "cannot load domain 'nosuch.module:PACK': No module named 'nosuch'"),
        ("tests.lending.domain:NOTHING", "cannot load domain 'tests.lending.domain:NOTHING': "),
        ("tests.lending.domain:ADA", "is neither a Domain nor a dict of them by version"),
        ("tests.packs.test_catalogue:EMPTY", "is neither a Domain nor a dict of them by version"),
        (":PACK", "cannot load domain ':PACK'"),
    ],
)
def test_one_mistake_has_one_text_wherever_the_name_is_used(name: str, text: str) -> None:
    told = {message(way, name) for way in (load_domain, check, bound)}
    assert len(told) == 1
    assert text in told.pop()


@pytest.mark.parametrize(
    "way",
    [
        lambda: load_domain("shop", "9"),
        lambda: check("shop", version="9"),
        lambda: binding.Binding(name="shop", version="9").domain(),
    ],
)
def test_so_has_a_version_that_is_none(way: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match=r"^domain shop has no version '9'; choose one of: "):
        way()


def test_a_domain_of_ones_own_is_loaded_by_module_and_attribute() -> None:
    assert load_domain("tests.lending.domain:LIBRARY") is LIBRARY
