# One word for each habit. Every word first makes sure of .venv and of the programs it needs; ARGS reach pytest.

PYTHON = .venv/bin/python

# pyright would ask the network for a newer version of itself.
export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1

.PHONY: all setup check test test-real test-model soak fuzz bench bench-peers bench-learning docs lock

all: check test

setup:
	@scripts/setup_dev.sh

check: setup
	$(PYTHON) scripts/lock.py --check
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m pyright
	.venv/bin/shellcheck hermes install.sh setup-hermes.sh scripts/*.sh .ci/run
	.venv/bin/lint-imports --no-logo --cache-dir .cache/import-linter
	$(PYTHON) scripts/docs.py --check

# Three at a time on two cores, file by file: much of the suite waits for processes and servers. A worker that dies ends the run.
test: setup
	$(PYTHON) -m pytest -n 3 --dist loadfile --max-worker-restart 0 $(ARGS)

test-real: setup
	@scripts/setup_apptainer.sh
	PATH="$(CURDIR)/.cache/apptainer/bin:$$PATH" $(PYTHON) -m pytest -m real --timeout=1800 $(ARGS)

test-model: setup
	$(PYTHON) -m pytest -m model --timeout=3600 --capture=no $(ARGS)

soak: setup
	$(PYTHON) -m pytest -m soak --timeout=0 $(ARGS)

fuzz: setup
	$(PYTHON) scripts/fuzz.py $(ARGS)

bench: setup
	$(PYTHON) -m bench $(ARGS)

bench-peers: setup
	$(PYTHON) -m bench.peers $(ARGS)

bench-learning: setup
	$(PYTHON) -m bench.learning $(ARGS)

docs: setup
	$(PYTHON) scripts/docs.py

lock: setup
	$(PYTHON) scripts/lock.py
