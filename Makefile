# `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
CONSTRAINTS := $(shell $(PYTHON) -c "import sys; print('constraints-3.13.txt' if sys.version_info >= (3, 12) else 'constraints.txt')")

.PHONY: demo test lint docs package soak sbom clean

.venv/.base: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable .
	touch $@

.venv/.installed: .venv/.base
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable '.[dev]'
	touch $@

.venv/.docs: .venv/.base
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable '.[docs]'
	touch $@

demo: .venv/.base ## simulate, fit, forecast, score, draw: about a minute on two cores
	$(BIN)/comotion demo --out runs/demo

test: .venv/.installed ## the whole test suite
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: .venv/.installed ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: .venv/.docs ## the site: tutorials executed, no warnings, every link looked at, no network
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python docs/_site/links.py build/docs

package: .venv/.installed ## build, check and install the package into an empty environment
	$(BIN)/python -m pytest -m slow tests/test_package.py

soak: .venv/.installed ## hours of accidents, see docs/reliability.md; goes on where it was stopped
	$(BIN)/python benchmarks/soak.py

sbom: .venv/.base ## what a release is made of, as CycloneDX
	mkdir -p dist
	$(BIN)/python release/sbom.py > dist/comotion.cdx.json

clean:
	rm -rf .venv runs build dist
