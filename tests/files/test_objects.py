"""Objects in a store: listed, read, written and removed, against a local server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ledgeragent.errors import DataError
from ledgeragent.files import objects
from ledgeragent.files.objects import (
    bytes_of,
    is_object,
    objects_at,
    opened_object,
    remove_object,
)
from tests.stores3 import BUCKET, put, store


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket with three objects, to which the environment leads."""
    with store() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setitem(os.environ, name, value)
        objects._system.cache_clear()
        for name in ("may/a.jsonl", "may/deep/b.jsonl", "june/c.json"):
            put(name, name.encode())
        yield BUCKET
    objects._system.cache_clear()


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("may/a.jsonl", ["may/a.jsonl"]),
        ("may/", ["may/a.jsonl", "may/deep/b.jsonl"]),
        ("may", ["may/a.jsonl", "may/deep/b.jsonl"]),
        ("", ["june/c.json", "may/a.jsonl", "may/deep/b.jsonl"]),
        ("*/*.json*", ["june/c.json", "may/a.jsonl"]),
        ("**/*.jsonl", ["may/a.jsonl", "may/deep/b.jsonl"]),
        ("july/", []),
        ("july/*.json", []),
    ],
)
def test_a_place_names_objects(bucket: str, place: str, names: list[str]) -> None:
    assert objects_at(f"{bucket}/{place}") == [f"{bucket}/{name}" for name in names]


def test_an_object_is_read_and_has_a_size(bucket: str) -> None:
    with opened_object(f"{bucket}/may/a.jsonl") as stream:
        assert stream.peek(3)[:3] == b"may"  # type: ignore[attr-defined]
        assert stream.read() == b"may/a.jsonl"
    assert bytes_of([f"{bucket}/may/a.jsonl", f"{bucket}/june/c.json"]) == 22


def test_an_object_is_replaced_and_removed(bucket: str) -> None:
    place = put("new/file.gz", b"one")
    assert put("new/file.gz", b"two") == place
    with opened_object(place) as stream:
        assert stream.read() == b"two"
    remove_object(place)
    remove_object(place)
    assert objects_at(f"{bucket}/new/") == []


def test_what_is_not_there_is_told_with_its_name(bucket: str) -> None:
    with pytest.raises(DataError, match="runs/nothing"), opened_object(f"{bucket}/nothing"):
        pass


def test_other_places_are_no_objects() -> None:
    assert not any(map(is_object, ("runs.jsonl", "-", "/s3/x", "s3:x", "http://host/x", "c://x")))
