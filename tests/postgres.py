"""A Postgres server of our own, from whatever Postgres this machine has."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "s3cret-of-the-database"
"""Nobody asks for it; it stands in every address, so that it may not be shown anywhere."""


class Unavailable(Exception):
    """There is no Postgres here, or it cannot run."""


class PostgresServer:
    """A server that listens on a port of its own, and keeps no promise about power cuts."""

    def __init__(self, binaries: Path, folder: str, user: int | None, options: str) -> None:
        self._binaries = binaries
        self._folder = folder
        self._user = user
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._options = (
            f"-p {self.port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off {options}"
        )
        self._do("initdb", "-D", self._data, "-A", "trust", "-U", "tester", "-N")

    @property
    def _data(self) -> str:
        return f"{self._folder}/data"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        log = f"{self._folder}/log"
        self._do("pg_ctl", "-D", self._data, "-l", log, "-o", self._options, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stops it, at once or (`fast`) in order."""
        self._do("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    @property
    def process(self) -> int:
        """The number of its first process."""
        return int(Path(self._data, "postmaster.pid").read_text().split()[0])

    def is_running(self) -> bool:
        """True between its start and its end."""
        return Path(self._data, "postmaster.pid").exists()

    def address(self, database: str = "postgres") -> str:
        """The address of a database, with a password in it that nobody asks for."""
        return f"postgresql://tester:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def fresh_database(self, encoding: str = "") -> str:
        """The address of a new database, whose texts are of this encoding or the server's own."""
        import psycopg
        from psycopg import sql

        name = f"t{secrets.token_hex(6)}"
        with psycopg.connect(self.address(), autocommit=True) as base:
            made = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
            if encoding:
                kind = " TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING {}"
                made += sql.SQL(kind).format(encoding)
            base.execute(made)
        return self.address(name)

    def _do(self, name: str, *words: str) -> None:
        command = [str(self._binaries / name), *words]
        subprocess.run(command, check=True, capture_output=True, user=self._user, cwd=self._folder)


@contextmanager
def running(options: str = "") -> Iterator[PostgresServer]:
    """A server in a folder of its own. It refuses to run as root, so root becomes somebody else."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(places[-1]) if places else None)
    if initdb is None:
        raise Unavailable("Postgres is not installed")
    someone = None
    if os.getuid() == 0:
        try:
            import pwd

            someone = pwd.getpwnam("postgres").pw_uid
        except KeyError:
            raise Unavailable(
                "Postgres does not run as root, and there is no user for it"
            ) from None
    with tempfile.TemporaryDirectory() as folder:
        if someone is not None:
            os.chown(folder, someone, -1)
        server = PostgresServer(Path(initdb).resolve().parent, folder, someone, options)
        server.start()
        try:
            yield server
        finally:
            if server.is_running():
                server.stop()
