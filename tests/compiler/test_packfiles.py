"""A pack in a folder: its files are put together, each name stands in one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.packfiles import pack_files
from ledgeragent.compiler.samples import run
from ledgeragent.errors import DataError
from tests.compiler.yaml_pack import HEAD

pytest.importorskip("cel_expr_python")


def test_a_folder_is_put_together(tmp_path: Path) -> None:
    head, _, records = HEAD.partition("records:\n")
    body, _, tools = records.partition("reads:\n")
    (tmp_path / "pack.yaml").write_text(f"{head}reads:\n{tools}")
    (tmp_path / "records.yaml").write_text(f"records:\n{body}")
    (tmp_path / "rules").mkdir()
    for name in ("a", "b"):
        rule = f"- {{id: lending/{name}, guards: pay, check: args.amount < 9.0, message: no}}"
        (tmp_path / "rules" / f"{name}.yaml").write_text(f"rules:\n  {rule}\n")
    call = "call: {name: pay, arguments: {loan_id: L1, amount: 1}}"
    (tmp_path / "samples.yaml").write_text(
        f"samples:\n  lending/b:\n    allowed:\n      - {{{call}}}\n    rejected: []\n"
    )
    outline = read_outline(tmp_path)
    assert outline.domain is not None, outline.findings
    assert [rule.id for rule in outline.domain.predicates] == ["lending/a", "lending/b"]
    assert [Path(rule.place.file).name for rule in outline.rules] == ["a.yaml", "b.yaml"]
    assert run(outline.samples[0], outline.domain).passed
    before = outline.domain.digest
    (tmp_path / "rules" / "a.yaml").write_text("rules: []\n")
    assert load_pack(tmp_path).digest != before
    assert len(pack_files(tmp_path)) == 5


def test_a_name_in_two_files_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(HEAD)
    (tmp_path / "records.yaml").write_text("records:\n  Card: {x: str}\n")
    with pytest.raises(DataError, match=r"records\.yaml:2: Card is given in .*pack\.yaml:"):
        load_pack(tmp_path)
