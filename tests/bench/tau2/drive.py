"""Runs one task per arm on the tau2 harness, in a process of its own: `drive.py REQUEST.json`.

The harness and its model library warn a great deal and keep global state, which tests in one process
would share.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ledgeragent.adapters.tau2 import harness
from ledgeragent.bench.tau2.run import prepare


def main(request: dict[str, object]) -> None:
    scratch = Path(str(request["scratch"]))
    prepare(scratch)
    cli = harness("tau2.cli")
    for arm in request["arms"]:  # type: ignore[attr-defined]
        options = {"base_url": f"{request['url']}/{arm}", "temperature": 0.0}
        sys.argv = ["tau2", "run", "--domain", str(request["domain"]), "--agent", arm]
        sys.argv += ["--num-tasks", "1", "--save-to", str(scratch / str(arm))]
        for side in ("agent", "user"):
            sys.argv += [f"--{side}-llm", "openai/scripted"]
            sys.argv += [f"--{side}-llm-args", json.dumps({**options, "api_key": "none"})]
        cli.main()


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
