"""Objects in a store (`s3://`, `gs://`, `az://`), by the file systems of pyarrow.

Keys and addresses come from where each store's own tools have them: the environment, and for S3 and
Google Cloud also the configuration files and the machine.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import IO, Any, cast
from urllib.parse import urlsplit

from ledgeragent.errors import DataError, MissingExtraError

SCHEMES = ("s3", "gs", "az")
_BUFFER = 8 << 20
"""Bytes. A request for each: few, and not much in memory."""
_PATIENCE = 60
"""Seconds in which a store that does not answer is asked again."""
_WILD = frozenset("*?[")


def is_object(place: str) -> bool:
    """True for what names an object in a store, or many."""
    return place.partition("://")[0] in SCHEMES and "://" in place


def is_wild(place: str) -> bool:
    """True for a pattern of names."""
    return not _WILD.isdisjoint(place)


@contextmanager
def opened_object(place: str) -> Iterator[IO[bytes]]:
    """An object to be read; DataError where it cannot be opened."""
    system, path = _located(place)
    with _told(place):
        stream = system.open_input_file(path)
    with io.BufferedReader(cast(Any, stream), _BUFFER) as buffered:
        yield cast(IO[bytes], buffered)


def objects_at(place: str) -> list[str]:
    """The objects that a place names, in the order of their names: one, a folder's, or a pattern's.

    DataError where the store cannot be asked.
    """
    system, path = _located(place)
    scheme = urlsplit(place).scheme
    if is_wild(path):
        base = path[: min(path.index(mark) for mark in _WILD if mark in path)].rpartition("/")[0]
    else:
        base = path.rstrip("/")
    with _told(place):
        own = system.get_file_info(base)
        if own.type == _pafs().FileType.File:
            return [place]
        below = system.get_file_info(
            _pafs().FileSelector(base, recursive=True, allow_not_found=True)
        )
    names = sorted(str(one.path) for one in below if one.type == _pafs().FileType.File)
    return [f"{scheme}://{name}" for name in names if not is_wild(path) or _fits(name, path)]


def bytes_of(places: Sequence[str]) -> int:
    """How many bytes these objects have together."""
    paths: dict[str, list[str]] = {}
    for place in places:
        scheme, _, path = place.partition("://")
        paths.setdefault(scheme, []).append(path)
    infos = (info for scheme, of in paths.items() for info in _system(scheme).get_file_info(of))
    return sum(info.size or 0 for info in infos)


def write_object(place: str, content: IO[bytes]) -> None:
    """Writes an object anew. DataError where it cannot be; it is whole, or as it was."""
    system, path = _located(place)
    with _told(place), system.open_output_stream(path, compression=None) as stream:
        shutil.copyfileobj(content, stream, _BUFFER)


def remove_object(place: str) -> None:
    """Removes an object, if there is one."""
    system, path = _located(place)
    with _told(place):
        if system.get_file_info(path).type == _pafs().FileType.File:
            system.delete_file(path)


def _fits(name: str, pattern: str) -> bool:
    """True where each part of a name fits its part of a pattern; `**` is for any number of parts."""
    return _parts_fit(name.split("/"), pattern.split("/"))


def _parts_fit(names: list[str], patterns: list[str]) -> bool:
    if not patterns:
        return not names
    if patterns[0] == "**":
        return any(_parts_fit(names[n:], patterns[1:]) for n in range(len(names) + 1))
    return (
        bool(names) and fnmatchcase(names[0], patterns[0]) and _parts_fit(names[1:], patterns[1:])
    )


@contextmanager
def _told(place: str) -> Iterator[None]:
    """Says of what pyarrow raises which object it was about, in one line."""
    try:
        yield
    except (OSError, import_module("pyarrow").ArrowException) as problem:
        words = " ".join(str(problem).split())
        raise DataError(f"the store answers: {words}", file=place) from None


def _located(place: str) -> tuple[Any, str]:
    """The file system of a place, and its path there."""
    scheme, _, path = place.partition("://")
    if not path.strip("/"):
        raise DataError("it names no bucket", file=place)
    return _system(scheme), path


def _pafs() -> Any:
    try:
        return import_module("pyarrow.fs")
    except ImportError:
        raise MissingExtraError("pyarrow", "table") from None


@cache
def _system(scheme: str) -> Any:
    """The file system of a scheme, with what the environment says of it."""
    return _SYSTEMS[scheme]()


def _s3() -> Any:
    env = os.environ
    endpoint = env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL") or ""
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")
    return _pafs().S3FileSystem(
        **_endpoint(endpoint),
        **({"region": region} if region else {}),
        anonymous=env.get("AWS_NO_SIGN_REQUEST", "").lower() in ("1", "true", "yes"),
    )


def _gs() -> Any:
    host = os.environ.get("STORAGE_EMULATOR_HOST", "")
    limit = timedelta(seconds=_PATIENCE)  # its own is a quarter of an hour
    return _pafs().GcsFileSystem(**_endpoint(host), anonymous=bool(host), retry_time_limit=limit)


def _az() -> Any:
    env = os.environ
    account = env.get("AZURE_STORAGE_ACCOUNT") or env.get("AZURE_STORAGE_ACCOUNT_NAME")
    if not account:
        raise DataError("set AZURE_STORAGE_ACCOUNT to the name of the account", file="az://")
    key = env.get("AZURE_STORAGE_KEY") or env.get("AZURE_STORAGE_ACCOUNT_KEY")
    token = env.get("AZURE_STORAGE_SAS_TOKEN")
    endpoint = _endpoint(env.get("AZURE_STORAGE_BLOB_ENDPOINT", ""))
    named = {
        "blob_storage_authority": endpoint.get("endpoint_override"),
        "blob_storage_scheme": endpoint.get("scheme"),
        "account_key": key,
        "sas_token": token if not key else None,
    }
    return _pafs().AzureFileSystem(
        account, **{name: value for name, value in named.items() if value}
    )


_SYSTEMS: dict[str, Callable[[], Any]] = {"s3": _s3, "gs": _gs, "az": _az}


def _endpoint(url: str) -> dict[str, str]:
    """Where a store is, if it is not where its makers have it."""
    if not url:
        return {}
    scheme, _, host = url.rpartition("://")
    return {"endpoint_override": host.rstrip("/"), "scheme": scheme or "http"}
