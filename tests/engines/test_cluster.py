"""The engine of many machines, on a Ray cluster of two nodes: the same report, whatever dies or breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

from ledgeragent.cli.engines import engine_of
from ledgeragent.engines.cluster import RayEngine, _staged
from tests.cli.branches import NAME
from tests.cli.command import BOOK, ROOT, RUNS, Done, jsonl, ledgeragent, lend, run
from tests.engines.deadly import CLUSTER, DEADLY_DAYS, LAST_DAYS
from tests.engines.deadly import NAME as DEADLY
from tests.stores3 import BUCKET, fetched, put, store

pytest.importorskip("ray", reason="ray is not installed; it is in the extra `ray`")
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Ray's clusters of several nodes need POSIX"
)

PACK = """
schema: ledgeragent/v1
domain: lending
version: "1"
records:
  Book: {book_id: str, title: str, status: str}
reads:
  get_book: {to: "books.{book_id}", record: Book}
writes:
  lend_book:
    arguments: {member_id: str, book_id: str, days: int}
    touches: [{"books.{book_id}": status}]
clauses: [{id: lending/days, section: Loans, summary: A book is lent for 14 days at most.}]
rules:
  - id: lending/days
    guards: lend_book
    check: args.days <= 14
    message: "{args.days} days, and 14 is the most"
"""
# Starting nodes opens sockets and files that Ray leaves to the end of the process.
NODES = """
import sys
from ray.cluster_utils import Cluster
small = {"num_cpus": 1, "object_store_memory": 100 << 20}
cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
cluster.add_node(**small)
if len(sys.argv) > 1:
    started = [p for node in cluster.list_all_nodes() for p in node.all_processes.values()]
    with open(sys.argv[1], "w") as file:
        file.write(" ".join(str(one.process.pid) for listed in started for one in listed))
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(scope="module")
def variables() -> Iterator[Mapping[str, str]]:
    """What leads to a store like S3."""
    with store() as around:
        yield around


@pytest.fixture(scope="module")
def address(variables: Mapping[str, str]) -> Iterator[str]:
    """The address of a cluster of two nodes, which see that store."""
    with cluster(variables) as address:
        yield address


@contextmanager
def cluster(variables: Mapping[str, str], *arguments: str) -> Iterator[str]:
    """The address of a cluster of two nodes, which have these variables."""
    around = {**os.environ, **variables, "RAY_USAGE_STATS_ENABLED": "0"}
    around["PYTHONPATH"] = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    with subprocess.Popen(
        [sys.executable, "-c", NODES, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=around,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(60)


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    """The store, for what this process puts there."""
    from ledgeragent.files import objects

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    objects._system.cache_clear()


def on_both(address: str, *arguments: str | Path) -> tuple[Done, Done]:
    """What a command did on this machine, and on the cluster."""
    here = ledgeragent(*arguments)
    return here, ledgeragent(*arguments, "--engine", "ray", "--address", address)


@pytest.mark.usefixtures("around")
def test_the_report_is_the_same_wherever_files_and_packs_are(address: str, tmp_path: Path) -> None:
    pytest.importorskip("cel_expr_python", reason="a pack in YAML takes the extra `cel`")
    put("in/a.jsonl", jsonl(*RUNS).encode() * 40)
    put("in/b.jsonl", b"{\n" + jsonl(RUNS[0]).encode())
    (tmp_path / "here.jsonl").write_text(jsonl(*RUNS))
    (tmp_path / "pack.yaml").write_text(PACK)
    places = (f"{BUCKET}/in/", tmp_path / "here.jsonl")
    flags = ("--domain", tmp_path / "pack.yaml", "--format", "json")
    here, there = on_both(address, "replay", *places, *flags)
    assert there == here and here.code == 0
    assert here.json["runs"] > 300 and here.json["skipped_by_reason"]["broken"] == 1


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
def test_all_files_of_a_pack_are_sent_and_nothing_beside_them(
    address: str, tmp_path: Path, whole: bool
) -> None:
    pytest.importorskip("cel_expr_python", reason="a pack in YAML takes the extra `cel`")
    pack, parts = tmp_path / "pack", tmp_path / "parts"
    pack.mkdir()
    parts.mkdir()
    rules = PACK.index("clauses:")
    (pack / "pack.yaml").write_text(f"{PACK[:rules]}include: ../parts/rules.yaml\n")
    (parts / "rules.yaml").write_text(PACK[rules:])
    (pack / "beside").symlink_to("/nowhere/at/all")
    os.mkfifo(pack / "pipe")
    (pack / ".env").write_text("SECRET=1")
    (tmp_path / "here.jsonl").write_text(jsonl(*RUNS))
    domain = pack if whole else pack / "pack.yaml"
    here, there = on_both(
        address, "replay", tmp_path / "here.jsonl", "--domain", domain, "--format", "json"
    )
    assert there == here and here.code == 0 and here.json["runs"]
    engine = engine_of(Namespace(engine="ray", jobs=None, address=address), str(domain))
    assert isinstance(engine, RayEngine)
    with _staged(engine.packs) as folder:
        assert folder is not None
        sent = {file.name for file in Path(folder).rglob("*") if file.is_file()}
    assert sent == {"pack.yaml", "rules.yaml"}


def test_what_kills_its_worker_is_told_and_nothing_else_is_lost(
    address: str, tmp_path: Path
) -> None:
    deadly = run("deadly", BOOK, lend(DEADLY_DAYS))
    (tmp_path / "with.jsonl").write_text(jsonl(*RUNS[:3], deadly, *RUNS[3:]))
    (tmp_path / "without.jsonl").write_text(jsonl(*RUNS))
    flags = ("--domain", DEADLY, "--format", "json")
    there = ledgeragent(
        "replay", tmp_path / "with.jsonl", *flags, "--engine", "ray", "--address", address
    )
    here = ledgeragent("replay", tmp_path / "without.jsonl", *flags)
    assert "with.jsonl:4: line 4 is left out: each worker that took it died" in there.err
    assert without_problems(there.json) == without_problems(here.json)


def without_problems(report: Any) -> Any:
    reasons = {k: n for k, n in report["skipped_by_reason"].items() if k != "broken"}
    return {**report, "skipped": None, "skipped_by_reason": reasons, "problems": []}


@pytest.mark.usefixtures("around")
def test_the_workers_write_the_table_to_the_store(address: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    place = put("more/a.jsonl", jsonl(*RUNS).encode())
    flags = ("--domain", NAME, "--format", "json")
    here, there = (
        ledgeragent("replay", place, *flags, "--write", f"{BUCKET}/{name}/", *engine)
        for name, engine in (("one", ()), ("two", ("--engine", "ray", "--address", address)))
    )
    assert there == here and here.code == 0
    tables = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folder = fetched(tmp_path / name, f"{BUCKET}/{name}/")
        assert (folder / "_SUCCESS").exists()
        tables.append(duckdb.sql(f"SELECT * FROM '{folder}/*.parquet'").fetchall())
    assert tables[0] == tables[1] and len(tables[0]) == sum(
        here.json["writes"][outcome]
        for outcome in ("allow", "revise_violation", "revise_evidence", "block")
    )
    again = ledgeragent("replay", place, *flags, "--write", f"{BUCKET}/one/")
    assert again.code == 2 and "something stands there" in again.err


VERBS = {
    "diff": ("diff", "{runs}", "--domain", "tests.cli.branches:NEW", "--against", "tests.cli.branches:OLD"),
    "test": ("test", "--cases", "{cases}", "--domain", NAME),
    "mine": ("mine", "{runs}", "--check", "tests.cli.branches:NEW"),
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_other_verbs_have_the_engine_too(address: str, tmp_path: Path, verb: str) -> None:
    from tests.cli.test_cases import APART, RIGHT, WRONG

    (tmp_path / "runs.jsonl").write_text(jsonl(*RUNS) * 1_100)
    (tmp_path / "cases.jsonl").write_text(jsonl(*RIGHT, WRONG, APART))
    names = {"runs": tmp_path / "runs.jsonl", "cases": tmp_path / "cases.jsonl"}
    words = [word.format(**names) for word in VERBS[verb]]
    here, there = on_both(address, *words, "--format", "json")
    assert there == here and here.code < 2 and here.json
    assert verb != "diff" or any(here.json["cases_left_out"].values())


NOWHERE = {
    "127.0.0.1:1": "no Ray cluster at 127.0.0.1:1: ",
    "nowhere.invalid:6379": "no Ray cluster at nowhere.invalid:6379: ",
    "ray://127.0.0.1:1": "no Ray cluster at ray://127.0.0.1:1: ",
    "ray://nowhere.invalid:10001": "no Ray cluster at ray://nowhere.invalid:10001: ",
    "127.0.0.1": "127.0.0.1 is no address of a cluster",
    "http://head": "http://head is no address of a cluster",
    ":6379": ":6379 is no address of a cluster",
    "127.0.0.1:99999": "127.0.0.1:99999 is no address of a cluster",
    "127.0.0.1:ray": "127.0.0.1:ray is no address of a cluster",
}


@pytest.mark.parametrize("place", NOWHERE)
def test_an_address_without_a_cluster_is_told(tmp_path: Path, place: str) -> None:
    """Ray itself goes on asking for many minutes."""
    (tmp_path / "runs.jsonl").write_text(jsonl(*RUNS))
    table = tmp_path / "verdicts.parquet"
    words = ("replay", tmp_path / "runs.jsonl", "--domain", NAME, "--write", table)
    done = ledgeragent(*words, "--engine", "ray", "--address", place)
    assert (done.code, done.out) == (2, "") and NOWHERE[place] in done.err, done
    assert [file.name for file in tmp_path.iterdir()] == ["runs.jsonl"]
    around = {"RAY_ADDRESS": place}
    assert ledgeragent(*words, "--engine", "ray", env=around).err == done.err
    here = ledgeragent(*words, "--address", place)
    assert here.code == 2 and "--address goes with --engine ray" in here.err


def test_what_listens_there_and_is_no_cluster_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text(jsonl(*RUNS))
    with create_server(("127.0.0.1", 0)) as deaf:
        place = f"127.0.0.1:{deaf.getsockname()[1]}"
        words = ("replay", tmp_path / "runs.jsonl", "--domain", NAME, "--engine", "ray")
        done = ledgeragent(*words, "--address", place)
    assert (done.code, done.out) == (2, "") and f"no Ray cluster at {place}: " in done.err, done


def test_a_cluster_that_dies_in_the_middle_is_told(tmp_path: Path) -> None:
    """Ray itself would end the command as one that found something, and leave half a table."""
    listed, table = tmp_path / "processes", tmp_path / "verdicts.parquet"
    with cluster({CLUSTER: str(listed)}, str(listed)) as address:
        (tmp_path / "runs.jsonl").write_text(jsonl(run("last", BOOK, lend(LAST_DAYS)), *RUNS))
        words = ("replay", tmp_path / "runs.jsonl", "--domain", DEADLY, "--write", table)
        done = ledgeragent(*words, "--engine", "ray", "--address", address)
    assert (done.code, done.out) == (2, "") and "the Ray cluster gave up: " in done.err, done
    assert sorted(file.name for file in tmp_path.iterdir()) == ["processes", "runs.jsonl"]
