"""The public names: `__all__` is what can be imported, sorted, and documented."""

from __future__ import annotations

import inspect
import types

import ledgeragent


def test_all_names_exist_and_are_sorted() -> None:
    assert list(ledgeragent.__all__) == sorted(ledgeragent.__all__)
    assert all(hasattr(ledgeragent, name) for name in ledgeragent.__all__)


def test_nothing_public_is_left_out_of_all() -> None:
    public = {
        name
        for name, value in vars(ledgeragent).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(ledgeragent.__all__)


def test_every_public_name_is_documented() -> None:
    undocumented = [
        name
        for name in ledgeragent.__all__
        if callable(getattr(ledgeragent, name)) and not inspect.getdoc(getattr(ledgeragent, name))
    ]
    assert undocumented == []
