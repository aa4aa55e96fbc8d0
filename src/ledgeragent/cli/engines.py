"""The options that say by which engine recorded runs are judged."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ledgeragent.engines.cluster import PART_BYTES, RayEngine
from ledgeragent.engines.engine import Engine
from ledgeragent.engines.local import LocalEngine
from ledgeragent.errors import UsageError
from ledgeragent.packs import is_data


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Adds --jobs, --engine and --address."""
    parser.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="processes (default 1); never more than there are processors, or megabytes to read",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="where the work is done: by processes of this machine, or by a Ray cluster (extra `ray`). "
        "The result is the same (default local)",
    )
    parser.add_argument(
        "--address",
        metavar="ADDRESS",
        help="the cluster of --engine ray: auto, HOST:PORT or ray://HOST:PORT (default: what RAY_ADDRESS "
        "says, else a cluster of this machine that ends with the command)",
    )


def engine_of(args: argparse.Namespace, *packs: str, writes: bool = False) -> Engine:
    """The engine of the options, to which these packs are known; UsageError where they do not fit.

    `writes` if each share of the work becomes a file: they are then larger.
    """
    if args.engine == "ray":
        if args.jobs is not None:
            raise UsageError("--jobs goes with --engine local; a cluster has its own size")
        own = {name: _files_of(name) for name in packs if is_data(name)}
        return RayEngine(address=args.address, packs=own)
    if args.address is not None:
        raise UsageError("--address goes with --engine ray")
    size = {"share_bytes": PART_BYTES} if writes else {}
    return LocalEngine(jobs=args.jobs or 1, **size)


def _files_of(pack: str) -> list[Path]:
    """The files that a pack is read from, as they stand to each other."""
    from ledgeragent.compiler.packfiles import source_files

    # A link on the way to the pack is followed, one to a file of it is not.
    return [Path(os.path.abspath(file)) for file in source_files(Path(pack).resolve())]


def _jobs(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a number of processes, 1 or more")
    return int(text)
