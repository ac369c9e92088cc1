# Every target sets up what it needs in .venv by itself; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export OMP_NUM_THREADS ?= 1

.PHONY: help page reproduce test check bench docs wheel clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /: /'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

reproduce: $(READY)  ## the paper: synthetic experiments, theory, recorded AntMaze runs, and a report that judges its claims
	$(BIN)/rising reproduce --out results/reproduction

test: $(READY) check  ## lint, types, layers, then every test, docstring and README example
	$(BIN)/python -m pytest

# pre-commit works on what git knows; where there is no git checkout its four tools run by themselves.
check: $(READY)
	@if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then $(BIN)/pre-commit run --all-files; \
	else $(BIN)/ruff format --check && $(BIN)/ruff check && $(BIN)/mypy && $(BIN)/lint-imports; fi

bench: $(READY)  ## speed as ratios to a C yardstick, printed and written to results/bench.json
	$(BIN)/python bench/bench.py
	$(BIN)/python bench/studies.py
	$(BIN)/python bench/serve.py
	$(BIN)/python bench/sweeps.py
	$(BIN)/python bench/kills.py

page:  ## the web page of the service, built from page/ (needs node and npm)
	cd page && npm ci --ignore-scripts --no-audit --no-fund && npm run build

docs: $(READY)  ## the documentation as a site, in docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

wheel: $(READY)  ## the package as a wheel, in dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean:  ## remove the environment and the results
	rm -rf $(VENV) results docs/_build dist
