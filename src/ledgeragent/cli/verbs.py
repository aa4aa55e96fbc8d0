"""The verbs, each with its line in the help: to list them, none of their modules is imported."""

from __future__ import annotations

VERBS = {
    "bench": "benchmark environments, runs and reports",
    "chat": "talk to the embedded shop's agent, verdicts and ledger beside it",
    "check": "find what is wrong with a pack, without running it",
    "coverage": "show which policy clauses are enforced",
    "demo": "see it work: a small shop, no key, no network",
    "diff": "compare two versions of a policy over recorded conversations",
    "explain": "explain a rule, or the verdict on a recorded call",
    "gateway": "judge an agent's replies between it and its model API",
    "init": "write a starter pack from a tools file",
    "journal": "verify, show, export or erase from a journal; make its keys",
    "mcp": "guard an MCP server: a proxy between it and its host",
    "mine": "draft a pack from recorded conversations, or compare one with them",
    "replay": "judge recorded conversations",
    "test": "judge a pack's samples, or labelled cases",
    "traces": "show what is understood of recorded conversations",
    "view": "look through recorded conversations in a browser",
}
"""Each is a module of this package with `add(subparsers)` and `run(args) -> exit code`."""
