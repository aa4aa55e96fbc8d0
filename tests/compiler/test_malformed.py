"""Packs that are no packs, or nearly: one clear message each, at the line that is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.problems import Problem
from ledgeragent.errors import DataError
from ledgeragent.packs.checking import check

pytest.importorskip("cel_expr_python")

PACK = """\
schema: ledgeragent/v1
domain: clinic
version: "1"
parameters: {today: "2025-03-01", most: 3}
records:
  Visit: {visit_id: str, status: [booked, done], fee: float, note: str?}
reads:
  get_visit: [{to: "visits.{visit_id}", record: Visit}, {to: all, parameters: [], record: any, when: USE}]
writes:
  cancel_visit: {arguments: {visit_id: str, fee: float}, touches: [{"visits.{visit_id}": status}]}
clauses:
  - {id: clinic/booked, section: Visits, summary: Only a booked visit is cancelled.}
rules:
  - id: clinic/booked
    about: Only a booked visit is cancelled.
    guards: cancel_visit
    requires: {visit: "visits.{visit_id}"}
    check: visit.status == "booked"
    message: visit {args.visit_id} is {visit.status}
    samples:
      allowed:
        - ledger: {visits.V-1: {visit_id: V-1, status: booked, fee: 1.0}}
          call: {name: cancel_visit, arguments: {visit_id: V-1, fee: 1.0}}
      rejected:
        - ledger: {visits.V-1: {visit_id: V-1, status: done, fee: 1.0}}
          call: {name: cancel_visit, arguments: {visit_id: V-1, fee: 1.0}}
""".replace("USE", "'params.today != \"\" && params.most > 0'")
HEAD, RULES = PACK[: PACK.index("rules:")], PACK[PACK.index("rules:") :]
CHECK = 'visit.status == "booked"'
SAID = "message: visit {args.visit_id} is {visit.status}"
NEEDED = '{visit: "visits.{visit_id}"}'
CALL = "call: {name: cancel_visit, arguments: {visit_id: V-1, fee: 1.0}}"


def swap(old: str, new: str) -> bytes:
    """The pack with one piece replaced."""
    assert old in PACK
    return PACK.replace(old, new, 1).encode()


def of(tmp_path: Path, content: bytes) -> list[Problem]:
    """What is found in a file of this content."""
    file = tmp_path / "pack.yaml"
    file.write_bytes(content)
    return check(str(file))


@pytest.mark.parametrize(
    "content",
    [
        PACK.encode(),
        b"\xef\xbb\xbf" + PACK.encode(),
        PACK.replace("\n", "\r\n").encode(),
        PACK.replace("\n", "\r").encode(),
        b"%YAML 1.2\n---\n" + PACK.encode() + b"...\n",
        swap("guards: cancel_visit", "guards:\tcancel_visit\t"),
        swap("{visit_id: V-1, status: done, fee: 1.0}", "{<<: &v {visit_id: V-1}, status: done}"),
    ],
    ids=["plain", "BOM", "CRLF", "CR", "document", "tabs inside", "merge"],
)
def test_what_is_well_formed_is_clean(tmp_path: Path, content: bytes) -> None:
    assert of(tmp_path, content) == []


ONE_MISTAKE: dict[str, tuple[bytes, int, str]] = {
    "empty": (b"", 1, "the file is empty"),
    "only a comment": (b"# nothing\n", 1, "the file is empty"),
    "null": (b"null\n", 1, "the file is empty"),
    "a list": (b"- a\n- b\n", 1, "a pack should be a mapping"),
    "a number": (b"42\n", 1, "a pack should be a mapping"),
    "a web page": (b"<html><body>404</body></html>", 1, "a pack should be a mapping"),
    "too large": (
        PACK.encode() + b"# " + b"x" * 10_000_000,
        1,
        "larger than one of its kind may be (1 MB)",
    ),
    "Latin-1": (swap("Only a", "F\u00fcr").decode().encode("latin-1"), 12, "is not UTF-8 text"),
    "UTF-16": (PACK.encode("utf-16"), 1, "is not UTF-8 text"),
    "NUL": (swap("    about", "    \0about"), 15, "a character that YAML does not allow"),
    "tab": (swap("    about", "\tabout"), 15, "a tab cannot indent"),
    "too little indentation": (
        swap("    guards", "   guards"),
        16,
        "does not line up with line 14",
    ),
    "too much indentation": (swap("    guards", "     guards"), 16, "mend the indentation"),
    "no dash": (swap("  - id: clinic/booked\n", "    id: clinic/booked\n"), 13, "should be a list"),
    "unquoted id": (
        swap("visit_id: V-1, status: booked", "visit_id: #V1, status: booked"),
        22,
        "unquoted #",
    ),
    "unquoted # in text": (swap("visit {args", "visit #1 {args"), 19, "dropped as a comment"),
    "text begins with !": (
        swap(f"check: {CHECK}", "check: !has(visit.note)"),
        18,
        "begins with ! must be quoted",
    ),
    "text begins with &": (swap(f"check: {CHECK}", "check: &x && true"), 18, "must be quoted"),
    "text begins with *": (
        swap(f"check: {CHECK}", "check: *x"),
        18,
        "quote text that begins with *",
    ),
    "text begins with @": (swap("about: Only", "about: @Only"), 15, "quote it"),
    "text begins with a quote": (
        swap(CHECK, '"booked" == visit.status'),
        18,
        "quote the value as a whole",
    ),
    "text begins with a brace": (
        swap("message: visit {", "message: {"),
        19,
        "quote the value as a whole",
    ),
    "colon in text": (
        swap(CHECK, f"args.fee > 1.0 ? true : {CHECK}"),
        18,
        "quote the text if it contains ': '",
    ),
    "unquoted braces": (swap(NEEDED, "{visit: visits.{visit_id}}"), 17, "is not closed"),
    "tag": (
        swap("domain: clinic", "domain: !!python/name:os.system clinic"),
        2,
        "!!python/name:os.system",
    ),
    "key twice": (swap("    guards:", "    guards: x\n    guards:"), 17, "'guards' is given twice"),
    "two documents": (PACK.encode() + b"---\na: 1\n", 27, "a second document"),
    "unknown section": (PACK.encode() + b"rulez: []\n", 27, "did you mean rules?"),
    "unknown key of a rule": (swap("    guards:", "    gaurds:"), 16, "did you mean guards?"),
    "unknown key of a read": (swap("record: Visit}", "recrod: Visit}"), 8, "did you mean record?"),
    "comma": (
        swap("summary: Only a booked visit is cancelled.", "summary: Only now, not later."),
        12,
        "quote text with a comma in it",
    ),
    "schema": (swap("ledgeragent/v1", "v2"), 1, "schema should be ledgeragent/v1"),
    "no schema": (swap("schema: ledgeragent/v1\n", ""), 1, "needs the key 'schema'"),
    "domain": (swap("domain: clinic", "domain: our clinic"), 2, "letters, digits"),
    "version": (swap('version: "1"', "version: 1.10"), 3, "version should be text"),
    "large number": (swap("most: 3", f"most: {10**20}"), 4, "too large"),
    "one =": (swap(CHECK, 'visit.status = "booked"'), 18, "write == to compare"),
    "open quote": (
        swap(CHECK, 'visit.status == "booked'),
        18,
        'the quote of "booked is not closed',
    ),
    "half an expression": (swap(CHECK, "visit.status =="), 18, "it ends too early"),
    "and": (swap(CHECK, f"{CHECK} and true"), 18, "write && instead of and"),
    "text without quotes": (
        swap(CHECK, "visit.status == booked"),
        18,
        "'booked' is not defined here",
    ),
    "strange character": (swap(CHECK, "visit.fee > 3.0€"), 18, "€ has no meaning in CEL"),
    "number as check": (swap(CHECK, "3"), 18, "it should give true or false"),
    "list as check": (swap(CHECK, "[a, b]"), 18, "should be a CEL expression"),
    "no check": (swap(CHECK, ""), 18, "should be a CEL expression"),
    "brace not closed": (swap("{visit.status}", "{visit.status"), 19, "is not closed; write {{"),
    "brace not opened": (swap("{visit.status}", "visit.status}"), 19, "closes nothing; write }}"),
    "no message": (swap(SAID, "message:"), 14, "needs the key 'message'"),
    "empty message": (swap(SAID, "message: []"), 19, "says nothing"),
    "no path": (swap(NEEDED, "{visit: }"), 17, "needs a path"),
    "path in braces": (swap(NEEDED, "{visit: [a]}"), 17, "should be text"),
    "list of records": (swap(NEEDED, "[visit]"), 17, "requires should be a mapping"),
    "name twice": (
        swap("    check:", "    let: {visit: '3'}\n    check:"),
        18,
        "names a required record",
    ),
    "name of CEL's": (
        swap("    check:", "    let: {args: '3'}\n    check:"),
        18,
        "cannot be a name in CEL",
    ),
    "verdict": (swap("    guards:", "    verdict: deny\n    guards:"), 16, "revise or block"),
    "enforcement": (
        swap("    guards:", "    enforcement: shadow\n    guards:"),
        16,
        "enforce or warn or audit",
    ),
    "rules as a mapping": (
        HEAD.encode() + b"rules:\n  id: clinic/booked\n",
        13,
        "rules should be a list",
    ),
    "empty rule": (HEAD.encode() + b"rules:\n  -\n", 14, "a rule should be a mapping"),
    "tool": (
        swap("guards: cancel_visit", "guards: [cancel_visits]"),
        16,
        "did you mean cancel_visit?",
    ),
    "reads as a list": (swap("  get_visit:", "  - get_visit:"), 7, "reads should be a mapping"),
    "read as text": (
        swap('{to: "visits.{visit_id}", record: Visit}', "visits"),
        8,
        "should be a mapping",
    ),
    "read to nowhere": (swap('{to: "visits.{visit_id}"', '{to: ""'), 8, "needs the key 'to'"),
    "fails always": (
        swap("record: Visit}", "record: Visit, failed: ['']}"),
        8,
        "every one begins with",
    ),
    "parser": (swap("record: Visit}", "record: Visit, parse: xml}"), 8, "json or text"),
    "flag": (swap("record: Visit}", "record: Visit, merge: yes}"), 8, "true or false"),
    "type": (swap("note: str?", "note: strng?"), 6, "did you mean str?"),
    "record in itself": (swap("note: str?", "note: Visit?"), 6, "contains itself"),
    "choice": (swap("[booked, done]", "[]"), 6, "a choice is a list"),
    "touches as text": (
        swap('[{"visits.{visit_id}": status}]', "visits"),
        10,
        "touches should be a list",
    ),
    "module": (
        swap("rules:\n", "rules:\n  - python: nosuch.module:rule\n"),
        14,
        "ModuleNotFoundError",
    ),
    "relative module": (swap("rules:\n", "rules:\n  - python: '..:x'\n"), 14, "cannot import"),
    "no predicate": (
        swap("rules:\n", "rules:\n  - python: os:getcwd\n"),
        14,
        "no rule made with @predicate",
    ),
    "tools file": (swap('version: "1"', "tools: nofile.json"), 3, "nofile.json: cannot be read"),
    "samples file": (PACK.encode() + b"samples: nofile.json\n", 27, "holds no samples"),
    "samples as a list": (PACK.encode() + b"samples: [1]\n", 27, "should be a mapping"),
    "samples of nothing": (
        PACK.encode() + b"samples: {clinic/bookd: {}}\n",
        27,
        "did you mean clinic/booked?",
    ),
    "sample as text": (swap(CALL, "call: cancel"), 22, "a sample of"),
    "sample without call": (swap(f"          {CALL}\n", ""), 22, "a sample of"),
}


@pytest.mark.parametrize("mistake", ONE_MISTAKE)
def test_one_mistake_is_one_message_at_its_line(tmp_path: Path, mistake: str) -> None:
    content, line, message = ONE_MISTAKE[mistake]
    (finding,) = of(tmp_path, content)
    assert message in finding.message
    assert finding.place.line == line
    assert not re.search(r"[\n\x00-\x1f]", finding.message)
    with pytest.raises(DataError, match=re.escape(f":{line}: ")):
        load_pack(tmp_path / "pack.yaml")


# ── Folders ─────────────────────────────────────────────────────────────────────────────────────


def folder(tmp_path: Path, **files: str) -> Path:
    """A folder with these files; `__` in a name is a slash."""
    for name, text in files.items():
        file = tmp_path / f"{name.replace('__', '/')}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_a_folder_is_read_in_pieces(tmp_path: Path) -> None:
    assert check(str(folder(tmp_path, pack=HEAD, rules__first=RULES))) == []


@pytest.mark.parametrize("name", ["rule.yaml", "Rules.yml", "rules/more.yml", "notes.yaml"])
def test_a_file_that_nobody_reads_is_told(tmp_path: Path, name: str) -> None:
    path = folder(tmp_path, pack=PACK, rules__none="rules: []\n")
    (path / name).write_text("rules: []\n")
    (finding,) = check(str(path))
    assert (finding.code, finding.place) == ("unread-file", (str(path / name), 1))


def test_the_tools_of_a_pack_are_no_stray_file(tmp_path: Path) -> None:
    tools = "- {name: get_visit, inputSchema: {properties: {visit_id: {type: string}}}}\n"
    path = folder(tmp_path, pack=PACK.replace('version: "1"', "tools: api.yaml"), api=tools)
    assert check(str(path)) == []


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: os.symlink("nowhere", path / "rules.yaml"), "No such file"),
        (lambda path: os.symlink("rules.yaml", path / "rules.yaml"), "symbolic links"),
        (lambda path: (path / "rules.yaml").mkdir(), "Is a directory"),
        (lambda path: (path / "pack.yaml").rename(path / "pack.yml"), "rename pack.yml"),
        (lambda path: (path / "pack.yaml").unlink(), "holds no pack.yaml"),
    ],
    ids=["dangling link", "link to itself", "folder", "yml", "nothing"],
)
def test_what_cannot_be_read_is_one_message(
    tmp_path: Path, prepare: Callable[[Path], object], message: str
) -> None:
    path = folder(tmp_path, pack=HEAD)
    prepare(path)
    with pytest.raises(DataError, match=message):
        read_outline(path)


def test_a_link_to_the_pack_itself_is_no_second_pack(tmp_path: Path) -> None:
    path = folder(tmp_path, pack=PACK)
    os.symlink(".", path / "rules")
    assert check(str(path)) == []
