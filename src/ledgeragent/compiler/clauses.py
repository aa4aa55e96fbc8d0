"""The section `clauses` of a YAML pack, and which rules enforce each of them."""

from __future__ import annotations

from dataclasses import replace

from ledgeragent.compiler.outline import ClausePart, Outline
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.domain import Clause

CLAUSE_KEYS = ("id", "section", "summary", "checkable", "rules", "why")


def read_clauses(section: Node | None, sections: Sections, outline: Outline) -> None:
    """Adds the clauses to the outline."""
    for node in sections.items(section, "clauses"):
        if not isinstance(node.value, dict):
            sections.find("syntax", node, "a clause should be a mapping (key: value)")
            continue
        entries = sections.mapping(node, "a clause", CLAUSE_KEYS, ("id", "summary"))
        clause = Clause(
            id=sections.text(entries.get("id"), "id"),
            section=sections.text(entries.get("section"), "section"),
            summary=sections.text(entries.get("summary"), "summary"),
            checkable=sections.choice(entries.get("checkable"), "checkable", Clause.CHECKABLE),
            predicates=sections.texts(entries.get("rules"), "rules"),
            why=sections.text(entries.get("why"), "why"),
        )
        named = place_of(entries["rules"]) if "rules" in entries else None
        outline.clauses.append(ClausePart(clause=clause, place=place_of(node), rules_at=named))


def link_clauses(outline: Outline) -> None:
    """Adds to each clause the rules that name it; finds those that it names and nobody wrote."""
    rules = {rule.id: rule.clause for rule in outline.rules}
    for i, part in enumerate(outline.clauses):
        for name in part.clause.predicates:
            if name not in rules:
                text = f"there is no rule {name}{suggestion(name, rules)}"
                outline.findings.add("syntax", part.rules_at or part.place, text)
        own = (rule for rule, clause in rules.items() if clause == part.clause.id)
        linked = tuple(dict.fromkeys((*part.clause.predicates, *own)))
        outline.clauses[i] = replace(part, clause=replace(part.clause, predicates=linked))
