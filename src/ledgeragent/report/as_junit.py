"""JUnit XML, for continuous integration: one test case per predicate."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from ledgeragent.report.as_text import rejected_text, stopped_text
from ledgeragent.tally import Result
from ledgeragent.verdict import Enforcement

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def replay_junit(result: Result, domain: str) -> str:
    """The result of a replay: a predicate fails if it rejects a write that really executed.

    What a predicate in shadow would have rejected is output of its case, no failure.
    """
    rejected: dict[str, list[str]] = {}
    for row in result.rejected:
        rejected.setdefault(row["predicate"], []).append(rejected_text(row))
    failed: dict[str, list[str]] = {}
    told: dict[str, list[str]] = {}
    for error in result.errors:
        lists = failed if error["enforcement"] == Enforcement.ENFORCE.value else told
        lists.setdefault(error["predicate"], []).append(f"run {error['run']}: {error['error']}")
    for shadow in (*result.shadow, *result.neutral.stopped):
        told.setdefault(shadow["predicate"], []).append(stopped_text(shadow))
    cases = [
        _case(domain, name, failed.get(name, []), rejected.get(name, []), told.get(name, []))
        for name in result.by_predicate
    ]
    head = (
        f"<testsuite name={_attribute(f'ledgeragent replay {domain}')} tests={_attribute(len(cases))} "
        f"failures={_attribute(len(rejected))} errors={_attribute(len(failed))} "
        f"skipped={_attribute(0)}>"
    )
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *cases, "</testsuite>", ""])


def _case(
    domain: str, predicate: str, errors: list[str], rejected: list[str], told: list[str]
) -> str:
    head = f"  <testcase classname={_attribute(domain)} name={_attribute(predicate)}"
    inside = []
    if errors:
        inside.append(_element("error", f"failed on {len(errors)} calls", errors))
    if rejected:
        message = f"{len(rejected)} executed writes would be rejected"
        inside.append(_element("failure", message, rejected))
    if told:
        inside.append(f"    <system-out>{_text(told)}</system-out>")
    return "\n".join([f"{head}>", *inside, "  </testcase>"]) if inside else f"{head}/>"


def _element(tag: str, message: str, texts: list[str]) -> str:
    return f"    <{tag} message={_attribute(message)}>{_text(texts)}</{tag}>"


def _text(texts: list[str]) -> str:
    return escape(_NOT_XML.sub("�", "\n".join(texts)))


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("�", str(value)))
