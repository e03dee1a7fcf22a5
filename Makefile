# Every target sets up what it needs: a virtual environment in .venv, built once
# and again only when pyproject.toml changes. The demo needs little; tests install the rest.

# Not the one of an active environment: ours has no pip.
PYTHON ?= $(shell $$(command -v python3.11 || command -v python3) -c 'import sys; print(sys._base_executable)')
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
OLDEST := .venv-oldest
SOURCES := src tests $(wildcard benchmarks docs)

# The tests run in two processes: more BLAS threads than that would only compete.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg

# Public functions, tables, the command line and reports: what touches the packages we depend on.
# It takes less than two minutes on two cores, compilation included.
OLDEST_TESTS := tests/api/test_public_api.py tests/api/test_api_iv.py \
  tests/old/cli/test_cli.py tests/old/cli/test_json.py tests/data/test_series.py tests/data/test_tables.py \
  tests/old/describe/test_report.py

.DEFAULT_GOAL := help
.PHONY: help venv demo test pytest test-oldest test-gpu lint format docs browser bench bench-power fuzz clean clean-cache

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# `--without-pip` and `pip --python` also work where the system splits ensurepip off.
define install
$(PYTHON) -m venv --without-pip $(1)
$(PYTHON) -m pip --python $(1)/bin/python install -qq --disable-pip-version-check --no-compile --editable '.[$(2)]'
endef

$(VENV)/.stamp-report: pyproject.toml
	$(call install,$(VENV),report)
	@touch $@

$(VENV)/.stamp: pyproject.toml
	$(call install,$(VENV),dev)
	@touch $(VENV)/.stamp-report $@

$(BENCH)/.stamp: pyproject.toml
	$(call install,$(BENCH),bench)
	@touch $@

venv: $(VENV)/.stamp ## build the virtual environment

# Built anew, since uv keeps packages that are newer than the bounds ask for.
$(OLDEST)/.stamp: pyproject.toml
	rm -rf $(OLDEST)
	$(PYTHON) -m venv --without-pip $(OLDEST)
	$(PYTHON) -m pip --python $(OLDEST)/bin/python install -qq --disable-pip-version-check --no-compile uv
	$(OLDEST)/bin/uv pip install -q --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[test]'
	@touch $@

demo: $(VENV)/.stamp-report ## compare two tables of flights; write nosplit-flights.html
	@$(BIN)/nosplit demo

test: venv ## lint, types, import contract, doctests, examples of README and docs, tests
	@$(MAKE) --no-print-directory -j 2 lint pytest

pytest: venv ## the tests alone
	$(TEST_ENV) $(BIN)/python -m pytest -n 2

# With a cache of its own: another version of numba would replace the compiled code in src.
# Typer before 0.26 takes names from the newest click that click deprecates.
test-oldest: $(OLDEST)/.stamp ## a selection of the tests, with the oldest versions that pyproject.toml admits
	$(TEST_ENV) NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/python -m pytest -q -n 2 \
	  -W "ignore:'click:DeprecationWarning" $(OLDEST_TESTS)

test-gpu: ## the tests that need a CUDA device, and the benchmarks on it, by the python3 that has PyTorch
	PYTHONPATH=src:tests python3 -m pytest -q -p no:cacheprovider tests/old/engines/tensors
	PYTHONPATH=src python3 -m benchmarks.gpu

lint: venv ## ruff, mypy and the import contract
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: venv ## apply what ruff can mend
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

docs: venv ## build the documentation site in docs/_build; a warning is an error
	$(BIN)/python -m sphinx -E -W --keep-going -n -q docs docs/_build
	@echo "docs/_build/index.html"

browser: ## install chromium for the tests of the report, where apt and root are there
	@command -v chromium || command -v chromium-browser || { \
	  test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; }

bench: $(BENCH)/.stamp ## speed, as ratios measured in one run
	$(TEST_ENV) $(BENCH)/bin/python -m benchmarks.speed.run --write docs/measured/benchmarks.md

bench-power: $(BENCH)/.stamp ## power against other tests
	$(TEST_ENV) $(BENCH)/bin/python -m benchmarks.power.two_sample
	$(TEST_ENV) $(BENCH)/bin/python -m benchmarks.power.goodness_of_fit_independence

fuzz: venv ## ten minutes of odd input to public functions; findings are printed
	$(TEST_ENV) $(BIN)/python -m benchmarks.fuzz.run

clean-cache: ## remove compiled code
	find src -name '*.nb[ic]' -delete

clean: clean-cache ## remove the environments and caches
	rm -rf $(VENV) $(BENCH) $(OLDEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
