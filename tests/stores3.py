"""A local server that answers as S3 does, for tests of what is kept in object stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

BUCKET = "s3://runs"


@contextmanager
def store() -> Iterator[Mapping[str, str]]:
    """The variables that lead to the server, with an empty bucket in it; skips where it cannot be."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    fs = pytest.importorskip("pyarrow.fs", reason="pyarrow is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    # What it keeps is the process's: another test may have had one.
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    try:
        fs.S3FileSystem(
            endpoint_override=f"{host}:{port}",
            scheme="http",
            access_key="key",
            secret_key="secret",
            region="us-east-1",
            allow_bucket_creation=True,
        ).create_dir(BUCKET.removeprefix("s3://"))
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.stop()


def put(name: str, content: bytes) -> str:
    """Puts an object into the bucket, by the variables of this process; its place."""
    import io

    from ledgeragent.files.objects import write_object

    write_object(f"{BUCKET}/{name}", io.BytesIO(content))
    return f"{BUCKET}/{name}"


def fetched(folder: Path, place: str) -> Path:
    """A copy of the objects below a place in the bucket."""
    from ledgeragent.files.objects import objects_at, opened_object

    for name in objects_at(place):
        with opened_object(name) as stream:
            (folder / name.rpartition("/")[2]).write_bytes(stream.read())
    return folder
