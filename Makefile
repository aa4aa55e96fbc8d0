# Every target sets up what it needs: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAIN := $(VENV)/.plain
READY := $(VENV)/.ready

.PHONY: demo test check format bench docs clean

demo: $(PLAIN)
	@$(BIN)/ledgeragent demo

test: $(READY)
	$(BIN)/pytest -n auto

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks.speed

docs: $(READY)
	$(BIN)/python -m tools.generate

# The package alone, which needs nothing: enough for the demo.
$(PLAIN): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(PLAIN)

# The package with every library that it can be used with, and the tools.
$(READY): $(PLAIN)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
