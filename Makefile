# `make demo` and `make test` each do all of their own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What the targets below run: `make test` everything that takes seconds, `make quick` what takes half a minute.
TESTS := -n 2 --dist worksteal -m "not slow and not rest and not models"
QUICK := -n 2 --dist loadfile -m "not slow and not rest and not models and not vm and not long"
# Known to come as a build for the CPU alone; other versions may bring gigabytes of GPU libraries with them.
TORCH := torch==2.13.0

.PHONY: demo test quick coverage matrix lint schema facts rule slow oracle hunt mutants models docs dist pages vscode fuzz lock bench clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(STAMP)
	@$(BIN)/python -m benchmarks.demo

test: $(STAMP) lint
	$(BIN)/python -m pytest $(TESTS)

quick: $(STAMP)
	$(BIN)/python -m pytest -q $(QUICK)

# What the tests reach, processes that they start included; build/coverage/index.html shows the lines.
coverage: $(STAMP)
	$(BIN)/python .ci/coverage_table.py -- $(if $(filter quick,$(COVERAGE)),$(QUICK),$(TESTS))

# Every Python and TVM of .ci/matrix.json that this machine has; MATRIX=quick for the quick tests only,
# ONLY="3.10:0.26" for some of the combinations.
matrix:
	$(PYTHON) .ci/matrix.py $(if $(ONLY),--only $(ONLY)) -- $(if $(filter quick,$(MATRIX)),$(QUICK),$(TESTS))

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	# Two processes: half of the time where nothing is kept from the last run. Older ones take one.
	MYPY_NUM_WORKERS=2 $(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/relax-lint --quiet relax_lint

# The files of a new rule: make rule CODE=RLX209 NAME=some-name FAMILY=lifetimes
rule: $(STAMP)
	@$(BIN)/python -m tools.new_rule "$(CODE)" "$(NAME)" "$(FAMILY)"

# The JSON Schema of the report, from the types in output/report_model.py; a test compares.
schema: $(STAMP)
	$(BIN)/python -m relax_lint.output.schema

# The table of facts in docs/facts.md, from relax_lint/vm/facts.py and the tests that violate them; a test compares.
facts: $(STAMP)
	$(BIN)/python -m tools.fact_table

# The rule index, the comparison with TVM's own checks and the pictures of the documentation; tests compare.
pages: $(STAMP)
	$(BIN)/python -m tools.doc_tables
	$(BIN)/python -m tools.tvm_checks

# Random programs: verdicts against a byte-by-byte evaluator and the virtual machine.
MINUTES ?= 10
oracle: $(STAMP)
	$(BIN)/python -m tests.oracle --minutes $(MINUTES)

# Random programs through TVM's passes: what a pass makes wrong, and whether the linter foretold it. It goes on where
# the last run stopped; build/hunt holds what was found.
hunt: $(STAMP)
	$(BIN)/python -m tools.hunt --minutes $(MINUTES) --seed $(SEED)

# Faults that people make, put into the engine one by one: a test must notice each. FILES="relax_lint/analysis ..."
# (all of the engine without it), SAMPLE=200 for that many of them, SEED=1 for other ones.
FILES ?=
SEED ?= 0
mutants: $(STAMP)
	$(BIN)/python -m tools.mutants $(FILES) --seed $(SEED) $(if $(SAMPLE),--sample $(SAMPLE)) --log build/mutants/log.jsonl

# What the tool takes as ratios and exponents of growth, against those in benchmarks/bench.json; PARTS="judging
# exponents" for some of it, RECORD=1 to write the file.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.bench $(if $(PARTS),--only $(PARTS)) $(if $(RECORD),--record)

slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "(slow or rest) and not models"

$(VENV)/.models: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,torch]' '$(TORCH)'
	touch $@

# What needs torch, which is too large to be installed for `make test`.
models: $(VENV)/.models
	$(BIN)/python -m pytest -m models

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --write-all -c docs . build/site
	cp docs/index.html.in build/site/index.html

# The wheel and the source distribution; the same commit gives the same wheel on every machine.
dist: $(STAMP)
	rm -rf dist
	umask 022 && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .

# The extension for Visual Studio Code, tested against the server; needs npm. Gives editors/vscode/dist/relax-lint.vsix.
vscode: $(STAMP)
	cd editors/vscode && npm ci --no-audit --no-fund && npm run build
	cd editors/vscode && RELAX_LINT="$(CURDIR)/$(BIN)/relax-lint" npm test
	cd editors/vscode && npm run package

fuzz: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m benchmarks.fuzz_sources -max_total_time=300

# What the GitHub Action installs, by version and hash, for every Python that it can meet.
lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --upgrade --generate-hashes \
		--no-emit-index-url --custom-compile-command 'make lock' \
		--output-file requirements/action.txt pyproject.toml requirements/action.in

clean:
	rm -rf $(VENV) build dist *.egg-info
