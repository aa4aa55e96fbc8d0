"""What a gateway is to be: its routes with their domains and settings, from wherever they were told."""

from __future__ import annotations

import argparse
import ipaddress
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ledgeragent.cli.configuration import ConfigurationFile
from ledgeragent.cli.options import (
    DECISIONS,
    checkpoint_plan,
    levels_of,
    parameters_of,
    tools_file,
    tools_of,
)
from ledgeragent.cli.tools import names_of
from ledgeragent.cli.watched import FileMarks, marks_of, pack_marks
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError, LedgerAgentError, UsageError
from ledgeragent.files.keys import key_of_environment, require_key, shown_address
from ledgeragent.gateway.access import names
from ledgeragent.gateway.proxies import proxy_for
from ledgeragent.gateway.settings import ANY, Settings
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.offline.binding import Binding, samples

SHARED = (
    "host",
    "port",
    "workers",
    "access_log",
    "drain_timeout",
    "drain_delay",
    "watch",
    "session_store",
    "max_sessions",
    "max_session_bytes",
    "otel",
)
"""Options that concern all routes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRoute:
    """A route: what stands before its paths, whose rules it has, how it runs, where it records.

    `options` are what it was planned from.
    """

    options: argparse.Namespace
    path: str
    binding: Binding
    settings: Settings
    journal: str | None
    redact: tuple[str, ...]
    checkpoints: CheckpointPlan

    def domain(self) -> Domain:
        """The route's domain, as it is read now."""
        return self.binding.domain()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingPlan:
    """A whole gateway. `shared` are the options of all routes, `config` the file that it came from.

    `marks` are those of all files that it was read from, taken before they were.
    """

    shared: argparse.Namespace
    routes: tuple[PlannedRoute, ...]
    config: str | None
    marks: FileMarks

    @classmethod
    def read(cls, args: argparse.Namespace, parser: argparse.ArgumentParser) -> ServingPlan:
        """What file, environment and command line say together. Raises UsageError or DataError."""
        marks = marks_of(filter(None, [args.config]))
        if args.config is None:
            marks |= _marks(args)
            return cls(shared=args, routes=(_route("", args),), config=None, marks=marks)
        file = ConfigurationFile.read(args.config, parser, SHARED)
        routes, spaces = [], []
        for path, words in file.routes:
            where = f"the route {path or '/'}"
            try:
                # What was typed was read before; here it only comes behind what the file says.
                space, _ = parser.parse_known_args([*file.shared, *words, *args.words])
                # A pack is read once for all routes: what counts is how it was before that.
                marks = {**_marks(space), **marks}
                routes.append(_route(path, space))
            except UsageError as problem:
                raise DataError(f"{where}: {problem}", file=args.config) from None
            spaces.append(space)
        return cls(shared=spaces[0], routes=tuple(routes), config=args.config, marks=marks)

    def marks_now(self) -> FileMarks:
        """The marks of its files as they are by now: others than `marks` once one has changed."""
        marks = marks_of(filter(None, [self.config]))
        for route in self.routes:
            marks |= _marks(route.options)
        return marks


def _marks(args: argparse.Namespace) -> FileMarks:
    """The marks of the files that a route's options name: its pack's, and those of --tools and --params."""
    return pack_marks(args.domain) | marks_of(
        map(str, filter(None, [tools_file(args), args.params]))
    )


def _route(path: str, args: argparse.Namespace) -> PlannedRoute:
    if args.domain is None:
        raise UsageError("name its domain with --domain (domain = in a configuration file)")
    if args.upstream is None:
        raise UsageError("name its model API with --upstream (upstream = in a configuration file)")
    if args.redact and args.journal is None and args.console_key_env is None:
        raise UsageError("--redact needs --journal or --console-key-env")
    if args.console_key_env is not None and args.workers > 1:
        raise UsageError(
            "--console-key-env: one worker would show what it did itself and nothing of the others; "
            "leave --workers out, or keep journals"
        )
    binding = Binding(
        name=args.domain,
        version=args.version,
        tools=tools_of(args, args.domain),
        parameters=parameters_of(args),
        allow_faulty=args.allow_faulty,
        levels=levels_of(args),
    )
    binding.domain()
    return PlannedRoute(
        options=args,
        path=path,
        binding=binding,
        settings=_settings(args),
        journal=args.journal,
        redact=tuple(args.redact),
        checkpoints=checkpoint_plan(args),
    )


def _settings(args: argparse.Namespace) -> Settings:
    if not args.upstream.startswith(("http://", "https://")):
        raise UsageError(
            f"--upstream {shown_address(args.upstream)}: should begin with http:// or https://"
        )
    proxy_for(args.upstream)
    keys = _keys_from_environment(args.api_key_env) if args.api_key_env else frozenset()
    return Settings(
        upstream=args.upstream,
        upstream_base=args.upstream_base,
        mode=args.mode,
        max_revisions=args.max_revisions,
        max_body=args.max_body,
        max_values=args.max_values,
        timeout=args.timeout,
        reply_timeout=args.reply_timeout,
        body_timeout=args.body_timeout,
        max_concurrent=args.max_concurrent,
        max_remembered=args.max_remembered,
        keys=keys,
        upstream_key=_from_environment(args.upstream_key_env) if args.upstream_key_env else None,
        metrics_key=_from_environment(args.metrics_key_env) if args.metrics_key_env else None,
        console_key=_from_environment(args.console_key_env) if args.console_key_env else None,
        hosts=_hosts(args.allowed_hosts, args.host, bool(keys)),
        origins=names(filter(None, args.allowed_origins.split(","))),
        context_role=args.context_role,
        unknown=DECISIONS[args.unknown_tools],
        undecided=DECISIONS[args.undecided],
        tool_names=names_of(args),
        max_refusals=args.max_refusals,
        max_ledger=args.max_ledger,
        require_tools=args.require_tools,
        require_session=args.require_session,
    )


def _hosts(allowed: str | None, host: str, has_keys: bool) -> frozenset[str]:
    """The names that the gateway goes by. One for this machine alone has no other names than that."""
    if allowed is not None:
        return names(filter(None, allowed.split(",")))
    is_local = host == "localhost"
    with suppress(ValueError):
        is_local = is_local or ipaddress.ip_address(host).is_loopback
    return frozenset({"localhost"} if is_local and not has_keys else {ANY})


def _from_environment(name: str) -> str:
    value = key_of_environment(name)
    if not value:
        raise UsageError(f"the environment variable {name} is not set")
    return value


def _keys_from_environment(name: str) -> frozenset[str]:
    listed = os.environ.get(name, "").strip()
    if not listed:
        raise UsageError(f"the environment variable {name} is not set")
    keys = [require_key(key, name) for key in listed.split(",")]
    if not all(keys):
        raise UsageError(
            f"the environment variable {name} has an empty key at place {keys.index('') + 1} of "
            f"{len(keys)}, which would let everybody in; take the comma too many out"
        )
    return frozenset(keys)


def problems_of(plan: ServingPlan) -> Mapping[str, str]:
    """By pack, what keeps it from being served: errors that `check` finds, samples judged otherwise.

    Nothing does where faulty packs are allowed.
    """
    from ledgeragent.compiler.problems import Severity
    from ledgeragent.offline.sampling import judge_samples
    from ledgeragent.packs.checking import check

    problems: dict[str, str] = {}
    for route in plan.routes:
        name = route.binding.name
        if route.binding.allow_faulty:
            continue
        try:
            errors = [f for f in check(name) if f.severity is Severity.ERROR]
            has_samples = bool(samples(name)) and not errors
            failures = judge_samples(Binding(name=name)).failures if has_samples else ()
        except LedgerAgentError as problem:
            problems[name] = str(problem)
            continue
        if errors:
            problems[name] = f"check finds {len(errors)} errors, e.g. {errors[0]}"
        elif failures:
            problems[name] = f"{len(failures)} of its samples are judged otherwise than they say"
    return problems
