# Every target sets up what it needs: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HARNESS := .venv-tau2
OFFICIAL := .venv-tau2-official
PLAIN := $(VENV)/.plain
READY := $(VENV)/.ready

.PHONY: demo test test-tau2 test-tau2-official check format bench docs clean

demo: $(PLAIN)
	@$(BIN)/ledgeragent demo

test: $(READY)
	$(BIN)/pytest -n auto

# The harness pins versions of its own, so it gets an environment of its own.
test-tau2: $(HARNESS)/.ready
	LITELLM_LOCAL_MODEL_COST_MAP=True $(HARNESS)/bin/pytest tests/bench

# The official line of the harness is installed from its repository and wants Python 3.12 or 3.13:
# make test-tau2-official TAU2=../tau2-bench PYTHON=python3.12
test-tau2-official:
	@test -d "$(TAU2)" || { echo "say where a checkout of tau2-bench is: make $@ TAU2=..." >&2; exit 2; }
	@test -x $(OFFICIAL)/bin/python || $(PYTHON) -m venv $(OFFICIAL)
	@$(OFFICIAL)/bin/python -m pip install --quiet --disable-pip-version-check --editable $(TAU2) --editable . pytest hypothesis
	LITELLM_LOCAL_MODEL_COST_MAP=True $(OFFICIAL)/bin/pytest tests/bench

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

$(HARNESS)/.ready: pyproject.toml
	@test -x $(HARNESS)/bin/python || $(PYTHON) -m venv $(HARNESS)
	@$(HARNESS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[tau2]' pytest hypothesis
	@touch $(HARNESS)/.ready

clean:
	rm -rf $(VENV) $(HARNESS) $(OFFICIAL) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
