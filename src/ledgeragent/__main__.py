"""`python -m ledgeragent` does what `ledgeragent` does."""

from __future__ import annotations

import sys

from ledgeragent.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
