"""Which domain judges a recorded run: the pack, the version of its policy, the tools the agent had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from ledgeragent.compiler.givens import ParameterText
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.samples import Sample
from ledgeragent.dispatching import DispatchingDomain
from ledgeragent.domain import EVERY_RULE, Domain
from ledgeragent.engines.engine import Engine
from ledgeragent.errors import UsageError
from ledgeragent.offline.judging import RecordedGate, Unknown, gate_of_records, is_check
from ledgeragent.offline.ownvalues import NO_VALUES, OwnValues, own_values
from ledgeragent.offline.remembering import remembering
from ledgeragent.offline.traces import Trace
from ledgeragent.packs import catalogue, loading
from ledgeragent.session.toolnames import ToolNames
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement

# Which versions of a policy serve a benchmark, the best first; else the default version does.
_LINEAGE = {"tau2": ("tau2",), "tau": ("tau",), "tau_trait": ("tau_trait", "tau")}

# One name, two environments: this benchmark's tools and records have nothing in common with the pack's.
_FOREIGN = frozenset({("tau_trait", "telecom")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A domain by name, so that it can be handed to another process.

    `name` is what `packs.catalogue` knows: a shipped pack, a YAML file or folder, `module:ATTRIBUTE`.
    `version` and `tools` overrule what a run records about itself, `levels` how strictly rules are
    enforced (`domain.EVERY_RULE` is for all that are not named, the gate's own checks included).
    `parameters` are other values than the domain's own, and than those that a run records. `prefixes`
    stand before the pack's tools in the runs, `unknown` is the answer to tools that the pack does not
    list, `form` the form of the runs where it is not told from their content. A pack in
    which `check` finds an error is refused unless `allow_faulty`.
    """

    name: str
    version: str | None = None
    tools: frozenset[str] | None = None
    levels: frozenset[tuple[str, Enforcement]] = frozenset()
    parameters: tuple[ParameterText, ...] = ()
    prefixes: tuple[str, ...] = ()
    unknown: Unknown = "revise"
    form: str | None = None
    allow_faulty: bool = False

    def __hash__(self) -> int:
        # Of all fields it would cost as much as what is looked up by it.
        return hash(self.name)

    def at(self, engine: Engine) -> Binding:
        """The same where an engine does the work."""
        name = engine.there(self.name)
        return self if name == self.name else replace(self, name=name)

    def domain(self) -> Domain:
        """The domain where no run tells which version; raises UsageError if there is none."""
        return _default(self)

    def versions(self) -> dict[str, Domain]:
        """Every version of the domain, the default one first."""
        return versions(self.name, self.allow_faulty)

    def _bound(
        self,
        version: str | None,
        tools: frozenset[str] | None,
        recorded: tuple[ParameterText, ...] = (),
    ) -> Domain:
        parameters = (*recorded, *self.parameters)
        return _bound(self.name, version, tools, self.levels, parameters, self.allow_faulty)

    def serves(self, trace: Trace) -> bool:
        """True unless the run says that it belongs to another domain."""
        foreign = (trace.benchmark, trace.domain) in _FOREIGN
        return not foreign and trace.domain in (None, self.domain().name)

    def domain_for(self, trace: Trace) -> Domain:
        """The domain for one run: its benchmark's version of the policy, its tools and parameters."""
        return self.gate_for(trace).domain

    def domain_with(self, recorded: Json) -> Domain:
        """The domain for what records such parameters, and nothing else of how it is to be judged."""
        return self._bound(self.version, self.tools, self.own_values(recorded).values)

    def own_values(self, recorded: Json) -> OwnValues:
        """What is recorded of the domain's parameters, but for those that have a value here."""
        if recorded is None:
            return NO_VALUES
        overruled = {text.name for text in self.parameters}
        return own_values(recorded, self.domain(), overruled)

    def gate_for(self, trace: Trace) -> RecordedGate:
        """The gate that judges one run."""
        recorded = self.own_values(trace.parameters).values
        return _gate(self, trace.benchmark, self.tools or trace.tools, recorded)

    def named(self, trace: Trace) -> Trace:
        """The run with its tools by their names in the pack, where exactly one reading fits.

        A call that means another tool stands as the call of that one.
        """
        named = self._by_own_names(trace)
        domain = self.domain()
        return named.mapped(domain.inner) if isinstance(domain, DispatchingDomain) else named

    def _by_own_names(self, trace: Trace) -> Trace:
        domain, names = self.domain(), trace.calls_by_tool
        if all(map(domain.tool, names)) and all(map(domain.tool, trace.tools or ())):
            return trace
        offered = tuple(dict.fromkeys((*names, *sorted(trace.tools or ()))))
        own_names = _own_names(self, offered)
        return trace.renamed(own_names) if own_names else trace


@cache
def versions(name: str, allow_faulty: bool = False) -> dict[str, Domain]:
    """Every version of a domain, read once; see `packs.loading`."""
    return loading.versions(name, allow_faulty=allow_faulty)


@cache
def samples(name: str) -> tuple[Sample, ...]:
    """The samples of a pack, read once; see `packs.catalogue`."""
    return catalogue.samples(name)


def forget() -> None:
    """Forgets what was read, so that packs that have changed are read again."""
    for reader in (versions, samples, _default, _gate, _own_names, _bound, _remembering):
        reader.cache_clear()


# What follows is the same for most of the runs of a file, and each was worked out several times for one.
@lru_cache(maxsize=64)
def _default(binding: Binding) -> Domain:
    return binding._bound(binding.version, binding.tools)


@lru_cache(maxsize=64)
def _gate(
    binding: Binding,
    benchmark: str | None,
    tools: frozenset[str] | None,
    recorded: tuple[ParameterText, ...],
) -> RecordedGate:
    version = binding.version
    if version is None:
        available, preferred = binding.versions(), _LINEAGE.get(benchmark or "", ())
        version = next((name for name in preferred if name in available), None)
    own = {rule: level for rule, level in binding.levels if rule == EVERY_RULE or is_check(rule)}
    domain = binding._bound(version, tools, recorded)
    return gate_of_records(domain, binding.unknown, own)


@lru_cache(maxsize=1024)
def _own_names(binding: Binding, offered: tuple[str, ...]) -> Mapping[str, str]:
    """The names in the pack of tools that a run calls otherwise."""
    tools = {tool.tool for tool in binding.domain().tools}
    return ToolNames(prefixes=binding.prefixes).read(offered, tools).tools


@lru_cache(maxsize=64)
def _bound(
    name: str,
    version: str | None,
    tools: frozenset[str] | None,
    levels: frozenset[tuple[str, Enforcement]],
    parameters: tuple[ParameterText, ...],
    allow_faulty: bool,
) -> Domain:
    domain = _remembering(name, version, allow_faulty)
    if levels:
        domain = domain.enforcing(_known(levels, domain, versions(name, allow_faulty).values()))
    if parameters:
        from ledgeragent.compiler.parameters import with_texts

        domain = with_texts(domain, parameters)
    return domain.bind(tools) if tools is not None else domain


@cache
def _remembering(name: str, version: str | None, allow_faulty: bool) -> Domain:
    """A version of a domain, whose reads are the same whatever else is set for a run."""
    return remembering(catalogue.version_of(name, versions(name, allow_faulty), version))


def _known(
    levels: Iterable[tuple[str, Enforcement]], domain: Domain, versions: Iterable[Domain]
) -> dict[str, Enforcement]:
    """The levels of this version's rules; raises UsageError for a rule that no version has."""
    ids = {rule.id for version in versions for rule in version.predicates}
    for rule, _ in levels:
        if rule not in ids and rule != EVERY_RULE and not is_check(rule):
            raise UsageError(f"{domain.name} has no rule {rule}{suggestion(rule, ids)}")
    here = {EVERY_RULE, *(rule.id for rule in domain.predicates)}
    return {rule: level for rule, level in levels if rule in here}
