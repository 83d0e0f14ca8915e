# Everything runs in .venv, which `make setup` builds from nothing but Python 3.11+.
PYTHON ?= python3
BIN := .venv/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Where this variable forbids bytecode, each of a thousand processes of the tests compiles the package again.
BYTECODE := PYTHONDONTWRITEBYTECODE=

.PHONY: setup lock demo demo-postgres test test-long test-faces test-adapters attack bench docs api dist clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

# The checks use the versions and hashes of requirements.lock, which `make lock` writes.
.venv/ready-dev: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch .venv/ready $@

lock:
	$(PYTHON) tools/lock.py

demo: .venv/ready
	@$(BIN)/slowwave demo

demo-postgres: .venv/ready-dev
	@$(BIN)/python tools/demo_postgres.py

test: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(ONE_THREAD) $(BYTECODE) $(BIN)/pytest -q -n 2 -m "not long"

test-long: .venv/ready-dev
	$(ONE_THREAD) $(BYTECODE) $(BIN)/pytest -q -n 2

# Programs of others check the interfaces. Their environment has node, npm packages and clients that no user needs.
FACES := $(CURDIR)/.venv-faces

$(FACES)/ready: pyproject.toml tests/faces/package.json tests/faces/package-lock.json
	$(PYTHON) -m venv $(FACES)
	$(FACES)/bin/python -m pip install --quiet --disable-pip-version-check "pip==25.3"
	$(FACES)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[server]" --group faces
	mkdir -p $(FACES)/node
	cp tests/faces/package.json tests/faces/package-lock.json $(FACES)/node
	PATH="$(FACES)/bin:$$PATH" npm ci --silent --no-audit --no-fund --prefix $(FACES)/node
	touch $@

test-faces: $(FACES)/ready
	PATH="$(FACES)/bin:$$PATH" SLOWWAVE_FACES=$(FACES)/node $(ONE_THREAD) $(BYTECODE) $(FACES)/bin/pytest -q -m "not long" tests/faces

# One environment for each framework; make test-adapters ADAPTERS="langgraph strands" for some of them.
test-adapters: .venv/ready-dev
	$(ONE_THREAD) $(BYTECODE) $(BIN)/python tools/test_adapters.py $(ADAPTERS)

# Twenty minutes; make attack ATTACK="--seconds 300 --seed 7 --only kills,churn" for another campaign.
attack: .venv/ready-dev
	$(ONE_THREAD) $(BYTECODE) $(BIN)/python -m tests.attack $(ATTACK)

bench: .venv/ready
	$(ONE_THREAD) $(BIN)/python bench/run.py

# The documentation as a site, in docs/_site. Its tools have an environment of their own.
DOCS := .venv-docs

$(DOCS)/ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check "pip==25.3"
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group docs
	touch $@

docs: $(DOCS)/ready
	rm -rf docs/_site
	$(DOCS)/bin/python -m sphinx --builder html --fail-on-warning --nitpicky --quiet --doctree-dir $(DOCS)/doctrees docs docs/_site
	$(DOCS)/bin/python tools/check_site.py docs/_site

# What changed since the last release so that a program could fail; make api API=COMMIT for another commit.
api: $(DOCS)/ready
	$(DOCS)/bin/python tools/check_api.py $(API)

dist:
	$(PYTHON) tools/check_dist.py

clean:
	rm -rf dist .venv docs/_site .venv-docs .venv-faces .venv-adapters .pytest_cache .mypy_cache .ruff_cache .hypothesis
