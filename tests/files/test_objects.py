"""Objects in a store: listed, read, written and removed, against a local server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

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
from tests.cli.branches import NAME
from tests.cli.command import ledgeragent
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


NOTHING_THERE = {
    "s3://no-such-bucket/may/": "no object there",
    "s3://no-such-bucket/may/a.jsonl": "no object there",
    "s3://no-such-bucket/may/*.jsonl": "no object fits this pattern",
    f"{BUCKET}/may/z.jsonl": "no object there",
    f"{BUCKET}/may/*.parquet": "no object fits this pattern",
    f"{BUCKET}/july/": "no object there",
    f"{BUCKET}/odd/": "none whose name ends in .json",
    "s3://": "it names no bucket",
}


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("place", NOTHING_THERE)
def test_a_command_tells_a_place_with_nothing_to_read(tmp_path: Path, place: str) -> None:
    put("odd/readme.txt", b"hello")
    words = ("replay", place, "--domain", NAME, "--write", tmp_path / "verdicts.parquet")
    done = ledgeragent(*words)
    assert (done.code, done.out) == (2, "") and f"{place}: " in done.err, done
    assert NOTHING_THERE[place] in done.err and "Traceback" not in done.err
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://nowhere.invalid"])
def test_a_store_that_does_not_answer_is_told(endpoint: str) -> None:
    around = {"AWS_ENDPOINT_URL": endpoint, "AWS_MAX_ATTEMPTS": "1"}
    done = ledgeragent("replay", f"{BUCKET}/may/", "--domain", NAME, env=around)
    assert (done.code, done.out) == (2, "") and "the store answers: " in done.err, done


@pytest.mark.usefixtures("bucket")
def test_a_store_that_wants_other_keys_is_told() -> None:
    """The local store lets everybody in, until it is told how many requests were enough."""

    def without_keys(requests: bytes) -> None:
        place = f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
        kind = {"Content-Type": "text/plain"}
        urlopen(Request(place, data=requests, headers=kind, method="POST")).close()

    without_keys(b"0")
    try:
        done = ledgeragent("replay", f"{BUCKET}/may/", "--domain", NAME)
    finally:
        without_keys(b"inf")
    assert (done.code, done.out) == (2, "") and "the store answers: " in done.err, done
