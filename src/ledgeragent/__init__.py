"""LedgerAgent: admission control for tool-calling AI agents.

A typed ledger of what was observed, and a deterministic gate before every environment-changing call.
"""

from ledgeragent.agent import LedgerAgent, Model
from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Effect, Neutral, Read, Untyped, Write, text, touch
from ledgeragent.errors import (
    DataError,
    DomainError,
    LedgerAgentError,
    MissingExtraError,
    PathError,
    UsageError,
)
from ledgeragent.gate import Filtered, Gate
from ledgeragent.ledger import Entry, Evidence, Ledger, Touch
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import MissingEvidence, Predicate, View, demand, predicate, violation
from ledgeragent.render import render
from ledgeragent.session import Session
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind, Verdict

__version__ = "0.1.0"

__all__ = [
    "Clause",
    "DataError",
    "Decision",
    "Domain",
    "DomainError",
    "Effect",
    "Enforcement",
    "Entry",
    "Evidence",
    "Filtered",
    "Finding",
    "Gate",
    "Kind",
    "Ledger",
    "LedgerAgent",
    "LedgerAgentError",
    "MissingEvidence",
    "MissingExtraError",
    "Model",
    "Neutral",
    "Path",
    "PathError",
    "PathTemplate",
    "Predicate",
    "Read",
    "Reply",
    "Session",
    "ToolCall",
    "ToolReturn",
    "Touch",
    "Untyped",
    "UsageError",
    "UserMessage",
    "Verdict",
    "View",
    "Write",
    "demand",
    "load_domain",
    "predicate",
    "render",
    "text",
    "touch",
    "violation",
]
