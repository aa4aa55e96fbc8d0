"""Loading of domains to judge by: none in which `check` finds an error, unless one insists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.packs import catalogue
from ledgeragent.packs.catalogue import PACKS, is_data, version_of
from ledgeragent.types import Json

if TYPE_CHECKING:
    from ledgeragent.compiler.problems import Problem


def load_domain(
    name: str,
    version: str | None = None,
    tools: Collection[str] | None = None,
    parameters: Mapping[str, Json] | None = None,
    *,
    allow_faulty: bool = False,
) -> Domain:
    """The domain of this name, in its newest version unless told.

    `name` is a shipped pack, a YAML file, a folder of them, or `module:ATTRIBUTE` of a `Domain` (or
    of a dict of them by version). `tools` are the names of the tools the agent has in this run: no
    rule then asks for others. `parameters` are other values than the domain's own. Raises UsageError for a
    name or a version that is none, and for a parameter that it does not have, or of another type;
    DataError for a pack in which `ledgeragent check` finds an error, unless `allow_faulty`.
    """
    domain = version_of(name, versions(name, allow_faulty=allow_faulty), version)
    if parameters:
        from ledgeragent.compiler.parameters import with_parameters

        domain = with_parameters(domain, parameters)
    return domain.bind(tools) if tools is not None else domain


def versions(name: str, *, allow_faulty: bool = False) -> dict[str, Domain]:
    """Every version of a domain, the default one first; a YAML pack has one.

    Raises UsageError for a name that is none, DataError for a pack in which `check` finds an error.
    With `allow_faulty` only a YAML pack that makes no whole domain is refused. Shipped packs are not
    checked again: the project's own tests do that.
    """
    if allow_faulty or name in PACKS:
        return catalogue.versions(name)
    if is_data(name):
        from ledgeragent.check import findings_of
        from ledgeragent.compiler.loader import domain_of, read_outline

        outline = read_outline(name)
        domain = domain_of(outline)
        _refuse_errors(findings_of(outline))
        return {domain.version: domain}
    from ledgeragent.packs.checking import check

    listed = catalogue.versions(name)
    for version in listed:
        _refuse_errors(check(name, version=version))
    return listed


def _refuse_errors(findings: Iterable[Problem]) -> None:
    from ledgeragent.compiler.problems import Severity

    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if not errors:
        return
    first = errors[0]
    more = f" (and {len(errors) - 1} more)" if errors[1:] else ""
    raise DataError(
        f"{first.message} [{first.code}]{more}: `ledgeragent check` lists what to mend; "
        "--allow-faulty, or allow_faulty=True, loads the pack as it is",
        file=first.place.file,
        line=first.place.line,
    )
