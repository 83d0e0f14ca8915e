# Everything runs in .venv, which `make setup` builds from nothing but Python 3.11+.
PYTHON ?= python3
BIN := .venv/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: setup lock demo demo-postgres test test-long attack bench dist clean

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
	$(ONE_THREAD) $(BIN)/pytest -q -n 2 -m "not long"

test-long: .venv/ready-dev
	$(ONE_THREAD) $(BIN)/pytest -q -n 2

# Twenty minutes; make attack ATTACK="--seconds 300 --seed 7 --only kills,churn" for another campaign.
attack: .venv/ready-dev
	$(ONE_THREAD) $(BIN)/python -m tests.attack $(ATTACK)

bench: .venv/ready
	$(ONE_THREAD) $(BIN)/python bench/run.py

dist:
	$(PYTHON) tools/check_dist.py

clean:
	rm -rf dist .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
