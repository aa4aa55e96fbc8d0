"""JUnit XML as continuous integration reads it: a suite of cases, each with what went wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitCase:
    """One test case: texts of errors, of failures, and of what is only told.

    `error` and `failure` sum the texts up in a line.
    """

    name: str
    error: str = ""
    errors: Sequence[str] = ()
    failure: str = ""
    failures: Sequence[str] = ()
    output: Sequence[str] = ()


def suite(name: str, domain: str, cases: Sequence[JUnitCase]) -> str:
    """The whole document."""
    failures = sum(bool(case.failures) for case in cases)
    errors = sum(bool(case.errors) for case in cases)
    head = (
        f"<testsuite name={_attribute(name)} tests={_attribute(len(cases))} "
        f"failures={_attribute(failures)} errors={_attribute(errors)} skipped={_attribute(0)}>"
    )
    body = (_case(case, domain) for case in cases)
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *body, "</testsuite>", ""])


def _case(case: JUnitCase, domain: str) -> str:
    head = f"  <testcase classname={_attribute(domain)} name={_attribute(case.name)}"
    inside = []
    if case.errors:
        inside.append(_element("error", case.error, case.errors))
    if case.failures:
        inside.append(_element("failure", case.failure, case.failures))
    if case.output:
        inside.append(f"    <system-out>{_text(case.output)}</system-out>")
    return "\n".join([f"{head}>", *inside, "  </testcase>"]) if inside else f"{head}/>"


def _element(tag: str, message: str, texts: Sequence[str]) -> str:
    return f"    <{tag} message={_attribute(message)}>{_text(texts)}</{tag}>"


def _text(texts: Sequence[str]) -> str:
    return escape(_NOT_XML.sub("�", "\n".join(texts)))


def _attribute(value: object) -> str:
    return quoteattr(_NOT_XML.sub("�", str(value)))
