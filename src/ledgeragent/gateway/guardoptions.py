"""What a guardrail's section of a proxy's configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ledgeragent.errors import UsageError
from ledgeragent.gateway.dialects.placing import LAST, PLACES
from ledgeragent.gateway.guarding import Guarding
from ledgeragent.gateway.journaling import GatewayJournal
from ledgeragent.gateway.settings import MAX_LEDGER, Settings
from ledgeragent.packs import load_domain
from ledgeragent.session.toolnames import ToolNames
from ledgeragent.stores.choose import open_session_store
from ledgeragent.verdict import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailOptions:
    """The options, each as the command `ledgeragent gateway` has it; `shadow` is its `--mode shadow`."""

    domain: str
    version: str | None = None
    shadow: bool = False
    journal: str | None = None
    redact: tuple[str, ...] = ()
    session_store: str = "memory"
    context_role: str = LAST
    unknown_tools: str = "revise"
    undecided: str = "block"
    max_revisions: int = 1
    max_refusals: int = 20
    max_ledger: int = MAX_LEDGER
    max_remembered: int = 256 << 20
    require_tools: bool = False
    tool_prefix: tuple[str, ...] = ()
    neutral: tuple[str, ...] = ()
    allow_faulty: bool = False

    @classmethod
    def read(cls, section: object) -> GuardrailOptions:
        """What a section says; UsageError names the option that is missing, unknown or misread."""
        if not isinstance(section, Mapping):
            raise UsageError(
                "litellm_params.ledgeragent: should be options, such as `domain: retail`"
            )
        kinds = {field.name: str(field.type) for field in fields(cls)}
        for name in section.keys() - kinds.keys():
            raise UsageError(f"{_where(name)}: no such option; there are {', '.join(kinds)}")
        if "domain" not in section:
            raise UsageError(f"{_where('domain')}: name the pack, e.g. `domain: retail`")
        return cls(**{name: _value(name, kinds[name], raw) for name, raw in section.items()})

    def __post_init__(self) -> None:
        if self.context_role not in PLACES:
            _refuse("context_role", self.context_role, PLACES)
        if self.unknown_tools not in ("revise", "block", "allow"):
            _refuse("unknown_tools", self.unknown_tools, ("revise", "block", "allow"))
        if self.undecided not in ("block", "allow"):
            _refuse("undecided", self.undecided, ("block", "allow"))

    def guarding(self) -> Guarding:
        """What judges by them, its journal opened."""
        domain = load_domain(self.domain, self.version, allow_faulty=self.allow_faulty)
        journal = None
        if self.journal is not None:
            journal = GatewayJournal.open(self.journal, domain, redact=self.redact)
        elif self.redact:
            raise UsageError(f"{_where('redact')}: needs journal")
        return Guarding(
            domain, self._settings(), journal=journal, store=open_session_store(self.session_store)
        )

    def _settings(self) -> Settings:
        return Settings(
            upstream="",
            mode="shadow" if self.shadow else "enforce",
            context_role=self.context_role,
            unknown=Decision[self.unknown_tools.upper()],
            undecided=Decision[self.undecided.upper()],
            max_revisions=self.max_revisions,
            max_refusals=self.max_refusals,
            max_ledger=self.max_ledger,
            max_remembered=self.max_remembered,
            require_tools=self.require_tools,
            tool_names=ToolNames(prefixes=self.tool_prefix, neutrals=frozenset(self.neutral)),
        )


def _value(name: str, kind: str, raw: Any) -> Any:
    """The value as the option has it: of text, a number or a flag, and of texts where it is a list."""
    if kind.startswith("tuple"):
        items = [raw] if isinstance(raw, str) else raw
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(items)
        raise UsageError(f"{_where(name)}: should be a list of names")
    expected = {"bool": bool, "int": int}.get(kind, str)
    if type(raw) is not expected or (isinstance(raw, int) and raw < 0):
        words = {bool: "true or false", int: "a number, 0 or more", str: "text"}[expected]
        raise UsageError(f"{_where(name)}: should be {words}")
    return raw


def _refuse(name: str, value: str, choices: tuple[str, ...]) -> None:
    raise UsageError(f"{_where(name)}: {value!r} should be one of {', '.join(choices)}")


def _where(name: str) -> str:
    return f"litellm_params.ledgeragent.{name}"
