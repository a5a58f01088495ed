# Everything a fresh machine with Python >= 3.11 and make needs: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check thorough bench lock clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.base: requirements/base.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pricecrawl needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	touch $@

demo: $(VENV)/.base  ## serve the bundled high street, crawl it twice, price, and show a trace
	$(BIN)/pricecrawl demo

check: $(VENV)/.test  ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check  ## everything that CI runs; needs Chromium and Node.js, which pip does not bring
	@$(BIN)/python -m tests.machine
	$(BIN)/python -m pytest -n auto --dist loadgroup

thorough: $(VENV)/.test  ## the property tests and fuzzers at their full counts
	PRICECRAWL_THOROUGH=1 $(BIN)/python -m pytest -n auto --dist loadgroup -m "not shop and not browser"

bench: $(VENV)/.test  ## ratios against a peer or a limit, each within one run
	$(BIN)/python -m bench

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock: $(VENV)/.base  ## lock requirements/*.in again; scrapyd has a lock of its own, for it pins an old setuptools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(COMPILE) requirements/test.in -o requirements/test.txt
	$(COMPILE) -c requirements/test.txt requirements/base.in requirements/build.in -o requirements/base.txt
	$(COMPILE) -c requirements/base.txt requirements/base.in requirements/scrapyd.in -o requirements/scrapyd.txt

clean:  ## remove what make made
	rm -rf $(VENV) build dist *.egg-info
