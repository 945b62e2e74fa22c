# On a fresh machine `make demo` and `make test` do everything: they create .venv,
# install the package into it, and run. A second run skips both.
PYTHON ?= python3
# Test processes. The suite is mostly many small fits, which leave a core idle.
WORKERS ?= 2

ifeq ($(OS),Windows_NT)
PY := .venv/Scripts/python.exe
else
PY := .venv/bin/python
endif
STAMP := .venv/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
export PIP_NO_INPUT := 1

# Numba's cache does not notice an edit in a callee's file, so it lives in a directory
# named after the digest of all sources.
CACHED = dir="$$($(PY) tests/numba_cache.py)" && NUMBA_CACHE_DIR="$$dir"
PYTEST = $(CACHED) $(PY) -m pytest -n $(WORKERS)
MULTICORE := .cache/liblinear-multicore

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all lint format bench bench-linear bench-path bench-quality bench-latency bench-calibration bench-files fuzz figures clean

help:  ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

$(STAMP): pyproject.toml
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@echo "installing maxmargin and its development tools into .venv ..."
	@$(PY) -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: $(STAMP)  ## fit, certify, compare with scikit-learn
	@$(CACHED) $(PY) examples/demo.py

test: lint  ## lint, types and every test that is not slow (under 10 minutes)
	@$(PYTEST) -m "not slow"

test-slow: $(STAMP)  ## only the slow tests
	@$(PYTEST) -m slow

test-all: test test-slow  ## everything

lint: $(STAMP)  ## ruff and mypy, changing nothing
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m mypy

format: $(STAMP)  ## let ruff fix and format
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: $(STAMP)  ## seconds of ours and the peers' (SETS="usps letter": a part; QUICK=1: a look)
	@$(PY) -m pip install --quiet --editable ".[bench]"
	@$(CACHED) $(PY) -m benchmarks.speed $(if $(QUICK),--quick) $(SETS)

# LIBLINEAR's two packages hold the same module: the second lives in a folder of its own.
bench-linear: $(STAMP)  ## the same for linear machines, at equal gaps (SETS="a9a w8a"; QUICK=1)
	@$(PY) -m pip install --quiet --editable ".[bench]"
	@test -d $(MULTICORE) || $(PY) -m pip install --quiet --no-deps --target $(MULTICORE) \
		liblinear-multicore || echo "liblinear-multicore does not install: left out"
	@$(CACHED) $(PY) -m benchmarks.linear $(if $(QUICK),--quick) $(SETS)

bench-path: $(STAMP)  ## a C-path of linear machines against separate fits (SETS="a9a")
	@$(CACHED) $(PY) -m benchmarks.linear_path $(SETS)

bench-quality: $(STAMP)  ## violation and objective of ours and the peers', by one referee
	@$(PY) -m pip install --quiet --editable ".[bench]"
	@$(CACHED) $(PY) -m benchmarks.quality $(SETS)

bench-calibration: $(STAMP)  ## probabilities against scikit-learn's way to get them
	@$(CACHED) $(PY) -m benchmarks.calibration

bench-latency: $(STAMP)  ## import and first-fit times against their budgets
	@$(PY) -m benchmarks.latency

bench-files: $(STAMP)  ## LIBSVM's text read and written, against scikit-learn (QUICK=1)
	@$(CACHED) $(PY) -m benchmarks.text_files $(if $(QUICK),--quick)

# Findings end it with a file that reproduces them; what was run is in tests/fuzz/README.md.
fuzz: $(STAMP)  ## a million inputs each: LIBSVM text, its models, our own (RUNS=1000: fewer)
	@$(PY) -m pip install --quiet --editable ".[fuzz]"
	@for one in tests/fuzz/fuzz_*.py; do \
		PYTHONPATH=src:. $(PY) $$one -runs=$(or $(RUNS),1000000) -max_len=30000 \
			-timeout=20 -rss_limit_mb=3000 || exit 1; done

figures: $(STAMP)  ## run every example, pictures into figures/ and docs/images
	@$(CACHED) $(PY) -m benchmarks.figures

clean:  ## remove .venv, caches and build products
	rm -rf .venv .cache figures .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
