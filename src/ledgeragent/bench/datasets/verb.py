"""`ledgeragent bench data`: what each domain needs, where it is, and the layout that runs read."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.known import recognized
from ledgeragent.bench.datasets.needs import NEEDS, DataNeed, digest, listing
from ledgeragent.bench.datasets.places import (
    DataPlace,
    chosen,
    guidelines_elsewhere,
    installed,
    known_places,
    place_of,
)
from ledgeragent.errors import DataError
from ledgeragent.files.limits import MEMORY
from ledgeragent.files.private import write_private
from ledgeragent.files.reading import read_bytes

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_REMEDY = {
    False: "git clone https://github.com/sierra-research/tau2-bench, or pip install "
    "'ledgeragent[tau2]' for the older tasks that come with the harness",
    True: "git clone https://github.com/collinear-ai/tau-trait",
}


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "data",
        help="find, convert and check the benchmark's data",
        description="Says for each domain which files a run reads, where they are, and the hash of "
        "them. Looked at are the SOURCES, in order, and then the installed tau2 harness. A source is "
        f"a data folder, a checkout of tau2-bench or one of tau-trait; unless named, {DATA_DIR} is "
        "one. Of checkouts only data is read; none of their code is run.",
        epilog="A hash is the SHA-256 of the files' own SHA-256 sums as `sha256sum` lists them, "
        "sorted by name; --files prints that list. Exits 0 if all four domains are there, 1 if not.",
    )
    parser.add_argument(
        "sources", nargs="*", type=Path, metavar="SOURCE", help="folders to look in"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write a data folder with all that is there"
    )
    parser.add_argument("--files", action="store_true", help="list the files with their SHA-256")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reports, after writing where asked to. 1 if a domain is missing."""
    named = list(args.sources)
    if not named and os.environ.get(DATA_DIR):
        named = [Path(os.environ[DATA_DIR])]
    places = list(known_places(named))
    if args.output:
        # Data of two versions is not mixed: the harness's own is taken only where nothing is named.
        sources = places[: len(named)] or places
        target = Path(args.output)
        write(contents(sources), target)
        places = [*([place_of(target)] if (target / "benchmarks").is_dir() else []), *places]
    sys.stdout.writelines(_report(places, with_files=args.files))
    return 0 if len(chosen(places)) == len(NEEDS) else 1


def contents(sources: Iterable[DataPlace]) -> dict[Path, bytes]:
    """Every file of a data folder, by its place below it, that can be made from the sources."""
    return {
        NEEDS[domain].folder / name: content
        for domain, place in chosen(sources).items()
        for name, content in place.contents(NEEDS[domain]).items()
    }


def write(files: Mapping[Path, bytes], target: Path) -> None:
    """Writes the files below `target`; DataError, before any is written, if one there differs."""
    for name, content in files.items():
        there = target / name
        if there.is_file() and read_bytes(there, MEMORY) != content:
            problem = "differs from the source's; remove it, or choose another folder"
            raise DataError(problem, file=str(there))
    for name, content in files.items():
        try:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            write_private(target / name, content)
        except OSError as error:
            raise DataError(error.strerror or str(error), file=str(target / name)) from None


def _report(places: Iterable[DataPlace], with_files: bool) -> Iterator[str]:
    listed = list(places)
    by_domain = chosen(listed)
    for domain, need in NEEDS.items():
        if domain in by_domain:
            yield from _present(need, by_domain[domain], listed, with_files)
        else:
            yield from _absent(need, listed)


def _present(
    need: DataNeed, place: DataPlace, places: Iterable[DataPlace], with_files: bool
) -> Iterator[str]:
    if place.converts is not None:
        yield f"{need.domain}: can be made from {place.kind} {place.root}; -o DIR writes it\n"
        return
    guidelines, folder = guidelines_elsewhere(need, place, places)
    files = place.files(need) | guidelines
    hashed = digest(files)
    yield f"{need.domain}: {place.kind} {place.root}\n"
    yield f"  sha256:{hashed}, {recognized(need.domain, hashed)}\n"
    if folder is not None:
        yield f"  with {', '.join(guidelines)} of {folder.kind} {folder.root}, for all domains\n"
    yield from _gaps(need, places)
    if with_files:
        yield from (f"  {line}\n" for line in listing(files).splitlines())


def _absent(need: DataNeed, places: Iterable[DataPlace]) -> Iterator[str]:
    yield f"{need.domain}: missing. {_REMEDY[need.trait]}\n"
    yield from _gaps(need, places)
    if not need.trait and installed() is None:
        yield "  no tau2 harness is installed\n"


def _gaps(need: DataNeed, places: Iterable[DataPlace]) -> Iterator[str]:
    """A line for each place that has some of the domain's files, but not all."""
    for place in places:
        missing = place.missing(need)
        own = [name for name in need.files if name.startswith(f"{need.domain}/")]
        if missing and place.holds(need) and not {*own} <= {*missing}:
            yield f"  {place.root} lacks {', '.join(missing)}\n"
