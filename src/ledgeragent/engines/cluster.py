"""The engine of many machines: a Ray cluster, whose workers read, and judge, at once.

Files of this machine are read here and sent; objects in a store are read by the cluster. Each is read by
one reader, and what it reads is worked on by all.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from socket import create_connection
from tempfile import TemporaryDirectory
from typing import Any, Generic

from ledgeragent.engines.engine import Failure, S, T, WorkerDied, guarded, outcome, salvaged
from ledgeragent.errors import LedgerAgentError, MissingExtraError, UsageError
from ledgeragent.files.objects import is_object
from ledgeragent.files.reading import read_bytes

PART_BYTES = 8 << 20
"""How much a share holds that is sent far, or becomes a file: worth the trip, and not much to lose."""
_WAITING_PER_PROCESSOR = 3
_READ_AHEAD = 4
"""Shares that a reader holds ready."""
_RETRIES = 2
_SECONDS = 10
"""So long a host may take to answer."""
_PATIENCE = {"RAY_NUM_REDIS_GET_RETRIES": "1", "RAY_py_gcs_connect_timeout_s": str(_SECONDS)}
"""Ray's own waiting for a cluster, which is that for one that is only starting."""
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class RayEngine:
    """A Ray cluster at `address`; without one, a cluster of this machine for as long as it works.

    This package goes to every worker, and so do `packs` of this machine, by name the files of each.
    """

    address: str | None = None
    share_bytes: int = PART_BYTES
    packs: Mapping[str, Sequence[Path]] = field(default_factory=dict)

    def there(self, name: str) -> str:
        """The name of a pack in the working directory of every worker."""
        if name not in self.packs:
            return name
        return _place(name, self.packs[name], [*self.packs].index(name))

    def run(
        self,
        sources: Sequence[str],
        reader: Callable[[int, str], Iterator[S]],
        work: Callable[[S], T],
    ) -> Iterator[tuple[S, T]]:
        """Each result beside its emptied share, in the order of the sources."""
        with (
            _staged(self.packs) as folder,
            open(os.devnull, "w") as nowhere,
            redirect_stdout(nowhere),  # there Ray says which of its processes died
            _connected(self.address, folder) as (ray, head),
        ):
            yield from _Cluster(ray, head, reader, work).spread(sources)


def _place(pack: str, files: Sequence[Path], number: int) -> str:
    """Where a pack stands for the workers: as it stands here to the files that it is read from."""
    return str(Path(str(number), Path(pack).resolve().relative_to(_root(pack, files))))


def _root(pack: str, files: Sequence[Path]) -> Path:
    """The folder that holds all of a pack."""
    return Path(os.path.commonpath([Path(pack).resolve().parent, *(f.parent for f in files)]))


@contextmanager
def _staged(packs: Mapping[str, Sequence[Path]]) -> Iterator[str | None]:
    """A folder with the packs, as every worker is to find them; None where there are none.

    What else is in the folder of a pack stays here.
    """
    if not packs:
        yield None
        return
    with TemporaryDirectory(prefix="ledgeragent-packs-") as folder:
        for number, (pack, files) in enumerate(packs.items()):
            for file in files:
                copied = Path(folder, str(number), file.relative_to(_root(pack, files)))
                copied.parent.mkdir(parents=True, exist_ok=True)
                copied.write_bytes(read_bytes(file))
        yield folder


@contextmanager
def _connected(address: str | None, folder: str | None) -> Iterator[tuple[Any, str]]:
    """Ray, connected for as long as the block lasts, and where the cluster's head listens.

    LedgerAgentError where no cluster answers.
    """
    # Nothing is told to anybody of how it is used, and Ray's own words are not ours.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Left to itself, Ray joins whatever cluster somebody has started on this machine.
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if address != "local":
        _require_answer(address)
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    environment: dict[str, Any] = {"py_modules": [str(_PACKAGE)]}
    if folder is not None:
        environment["working_dir"] = folder
    try:
        ray.init(
            address=address,
            runtime_env=environment,
            log_to_driver=False,
            logging_level="ERROR",
            **({"include_dashboard": False} if address == "local" else {}),
        )
    except (ConnectionError, ValueError, RuntimeError) as problem:
        words = " ".join(str(problem).split())
        raise LedgerAgentError(f"no Ray cluster at {address}: {words}") from None
    try:
        yield ray, address if "://" in address else ray.get_runtime_context().gcs_address
    except ray.exceptions.RayError as problem:
        words = " ".join(str(problem).split())
        raise LedgerAgentError(f"the Ray cluster gave up: {words}") from None
    finally:
        ray.shutdown()


def _require_answer(address: str) -> None:
    """LedgerAgentError where nothing listens at an address, which Ray goes on asking for minutes."""
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    if address == "auto":
        return
    if (silence := _silence(address)) is not None:
        raise LedgerAgentError(f"no Ray cluster at {address}: {silence}")


def _silence(address: str) -> str | None:
    """Why nothing listens at an address, None where something does; UsageError where it is none."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UsageError(
            f"{address} is no address of a cluster: auto, HOST:PORT or ray://HOST:PORT"
        )
    try:
        create_connection((host.strip("[]"), int(port)), _SECONDS).close()
    except (OSError, UnicodeError) as problem:
        return getattr(problem, "strerror", None) or str(problem)
    return None


class _Cluster(Generic[S, T]):
    """The tasks of a cluster that are under way, in the order of the input."""

    def __init__(
        self,
        ray: Any,
        head: str,
        reader: Callable[[int, str], Iterator[S]],
        work: Callable[[S], T],
    ) -> None:
        self._ray = ray
        self._shares_in = reader
        self._work = work
        self._head = head
        self._order = ray.put(work)
        self._processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._task = ray.remote(_worked)
        self._reader = ray.remote(_shares_of).options(
            num_cpus=0,  # it mostly waits, and has to be able to run where all are at work
            num_returns="streaming",
            max_retries=_RETRIES,
            _generator_backpressure_num_objects=_READ_AHEAD,
        )
        self._waiting: deque[tuple[Any, Any]] = deque()

    def spread(self, sources: Sequence[str]) -> Iterator[tuple[S, T]]:
        """The results, with only a few shares under way for each processor."""
        try:
            for share in self._shares(sources):
                self._waiting.append((share, self._begin(share, _RETRIES)))
                if len(self._waiting) >= _WAITING_PER_PROCESSOR * self._processors:
                    yield from self._next()
            while self._waiting:
                yield from self._next()
        finally:
            for _, task in self._waiting:
                self._ray.cancel(task, force=True)

    def _shares(self, sources: Sequence[str]) -> Iterator[Any]:
        """References to the shares of all sources; readers are ahead of what is asked for."""
        remote = deque(number for number, name in enumerate(sources) if is_object(name))
        readers: dict[int, Any] = {}
        for number, name in enumerate(sources):
            while remote and len(readers) < max(2, self._processors // 2):
                ahead = remote.popleft()
                readers[ahead] = self._reader.remote(self._shares_in, ahead, sources[ahead])
            if is_object(name):
                yield from readers.pop(number)
            else:
                yield from map(self._ray.put, self._shares_in(number, name))

    def _begin(self, share: Any, retries: int) -> Any:
        return self._task.options(max_retries=retries).remote(self._order, share)

    def _next(self) -> Iterator[tuple[S, T]]:
        share, task = self._waiting.popleft()
        try:
            emptied, result = self._result(task)
        except self._deaths():
            self._require_head()
            yield from salvaged(self._ray.get(share), self._attempt, self._work)
        else:
            yield emptied, outcome(result)

    def _attempt(self, share: S) -> T:
        try:
            result: T | Failure = self._result(
                self._task.options(max_retries=0).remote(self._order, share)
            )[1]
        except self._deaths():
            self._require_head()
            raise WorkerDied from None
        return outcome(result)

    def _result(self, task: Any) -> Any:
        while not self._ray.wait([task], timeout=_SECONDS)[0]:
            self._require_head()
        return self._ray.get(task)

    def _require_head(self) -> None:
        """LedgerAgentError where the head of the cluster is gone, for which Ray would end this process."""
        ends = time.monotonic() + 2 * _SECONDS
        while (silence := _silence(self._head)) is not None:
            if time.monotonic() > ends:
                raise LedgerAgentError(f"the Ray cluster gave up: {self._head}: {silence}")
            time.sleep(1)

    def _deaths(self) -> tuple[type[Exception], ...]:
        exceptions = self._ray.exceptions
        return (
            exceptions.WorkerCrashedError,
            exceptions.OutOfMemoryError,
            exceptions.NodeDiedError,
            exceptions.LocalRayletDiedError,
        )


def _worked(work: Callable[[S], T], share: S) -> tuple[S, T | Failure]:
    """What a worker does with a share."""
    return share.emptied(), guarded(work, share)


def _shares_of(reader: Callable[[int, str], Iterator[S]], number: int, name: str) -> Iterator[S]:
    """What a reader does with a source."""
    yield from reader(number, name)
