"""The options of the gateway that bound what one request, and all of them, may cost."""

from __future__ import annotations

import argparse


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Adds the bounds, each with what it is by default."""
    parser.add_argument(
        "--timeout",
        type=positive,
        default=600.0,
        metavar="SECONDS",
        help="longest silence of the upstream (default 600)",
    )
    parser.add_argument(
        "--reply-timeout",
        type=positive,
        default=3_600.0,
        metavar="SECONDS",
        help="how long a reply may take in all, however often a byte of it comes; not in shadow mode "
        "(default 3600)",
    )
    parser.add_argument(
        "--body-timeout",
        type=positive,
        default=30.0,
        metavar="SECONDS",
        help="how long the body of a request may take to come in (default 30)",
    )
    parser.add_argument(
        "--max-body",
        type=natural,
        default=8 << 20,
        metavar="BYTES",
        help="largest request (default 8 MiB)",
    )
    parser.add_argument(
        "--max-values",
        type=natural,
        default=200_000,
        metavar="N",
        help="most values, keys among them, in one JSON text: a request, a reply or an event of its "
        "stream, what a tool returned; reading more would keep all other clients waiting "
        "(default 200000)",
    )
    parser.add_argument(
        "--max-concurrent",
        type=natural,
        default=1_000,
        metavar="N",
        help="requests under way at once; more are turned away with 503 (default 1000)",
    )
    parser.add_argument(
        "--max-ledger",
        type=natural,
        default=256 << 10,
        metavar="BYTES",
        help="records at the tail of a prompt; past that the model is told how many of the oldest are "
        "left out (default 256 KiB)",
    )
    parser.add_argument(
        "--max-remembered",
        type=natural,
        default=256 << 20,
        metavar="BYTES",
        help="histories that are kept, each counted with the size of its request (default 256 MiB)",
    )


def natural(text: str) -> int:
    """The number in an option, 0 or more."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("give a number, 0 or more")
    return int(text)


def positive(text: str) -> float:
    """The seconds in an option, more than 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("give a number of seconds")
    return value


def count(text: str) -> int:
    """The number in an option, 1 or more."""
    if not natural(text):
        raise argparse.ArgumentTypeError("give a number, 1 or more")
    return int(text)


def duration(text: str) -> float:
    """The seconds in an option, 0 or more."""
    return 0.0 if text.strip() in ("0", "0.0") else positive(text)
