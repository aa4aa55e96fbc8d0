"""A pack's digest: the same files give the same one, any change another."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent import load_domain
from ledgeragent.compiler.digest import digest_of
from tests.compiler.yaml_pack import HEAD


def pack(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_it_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    first = digest_of(pack(tmp_path / "a", rules="1", paths="2"))
    assert first == digest_of(pack(tmp_path / "b", paths="2", rules="1"))
    assert first != digest_of(pack(tmp_path / "c", rules="2", paths="1"))
    assert first != digest_of(pack(tmp_path / "d", rules="1", routes="2"))


def test_compiled_files_do_not_count(tmp_path: Path) -> None:
    folder = pack(tmp_path / "a", rules="1")
    before = digest_of(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "rules.pyc").write_bytes(b"\0")
    assert digest_of(folder) == before


def test_a_loaded_domain_carries_it() -> None:
    assert len(load_domain("retail").digest) == 64
    assert load_domain("retail").digest == load_domain("retail", "tau").digest
    assert load_domain("retail").digest != load_domain("airline").digest


@pytest.mark.parametrize("folder", [False, True])
def test_a_yaml_pack_has_one_however_it_is_loaded(tmp_path: Path, folder: bool) -> None:
    pytest.importorskip("cel_expr_python")
    from ledgeragent.compiler.loader import load_pack

    file = tmp_path / "pack.yaml"
    file.write_text(HEAD)
    place = tmp_path if folder else file
    assert load_pack(place).digest == load_domain(str(place)).digest == digest_of(place)
