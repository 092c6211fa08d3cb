# `make demo` and `make test` each do all of their own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint slow docs clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(STAMP)
	@$(BIN)/python benchmarks/demo.py

test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@# mypy does not follow editable installs: show it the rules under their installed name.
	mkdir -p $(VENV)/types && ln -sfn ../../rules $(VENV)/types/relax_lint_rules
	MYPYPATH=$(VENV)/types $(BIN)/mypy
	$(BIN)/relax-lint --quiet relax_lint

slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m slow

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
	cp build/site/README.html build/site/index.html

clean:
	rm -rf $(VENV) build dist *.egg-info
