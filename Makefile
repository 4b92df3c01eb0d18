# localville: `make run` lives a morning, `make test` tests everything. Both set up what they need, once, into .venv.

.DEFAULT_GOAL := help
.PHONY: help run test lint bench clean setup

PYTHON ?= python3
SCENARIO ?= cafe
# A model's name, the path of a GGUF file, or `scripted`; empty: the default model.
MODEL ?=
# Further options: of `localville run` for run, of pytest for test, of the benchmarks for bench.
ARGS ?=
# Options of pip for torch alone, say to get the CPU build (README, "What it costs").
TORCH_FLAGS ?=

VENV := .venv
PY := $(VENV)/bin/python
LOCALVILLE := $(VENV)/bin/localville
READY := $(VENV)/ready
PIP := $(PY) -m pip --disable-pip-version-check --quiet
SMALL_MODEL := smollm2-135m
EMBEDDER := all-MiniLM-L6-v2
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))

help:
	@echo 'make run     set up, fetch a model, and live the scenario "cafe"   (MODEL=…  SCENARIO=…  ARGS="--until 09:00")'
	@echo 'make test    set up, fetch the small model, and run all tests      (ARGS="-k plan")'
	@echo 'make lint    ruff and mypy'
	@echo 'make bench   list the benchmarks, or run one                       (ARGS="engine")'
	@echo 'make clean   remove .venv, caches and builds; keeps runs/ and the fetched models'

run: $(READY)
	@case '$(MODEL)' in \
	  scripted) ;; \
	  */*|*.gguf) $(LOCALVILLE) models pull $(EMBEDDER) ;; \
	  '') $(LOCALVILLE) models pull ;; \
	  *) $(LOCALVILLE) models pull '$(MODEL)' $(EMBEDDER) ;; \
	esac
	@$(LOCALVILLE) run '$(SCENARIO)' $(if $(MODEL),--model '$(MODEL)') $(ARGS)

test: $(READY)
	@$(LOCALVILLE) models pull $(SMALL_MODEL) $(EMBEDDER)
	@$(PY) -m pytest $(ARGS)

lint: $(READY)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(READY)
	@$(PY) -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo 'Kept: runs/ (your runs) and the fetched models (localville models list tells where they lie).'

setup: $(READY)

# Installed once, and anew when the dependencies change.
$(READY): pyproject.toml constraints.txt
	@command -v '$(PYTHON)' >/dev/null || { echo 'There is no $(PYTHON). Install Python 3.11, 3.12 or 3.13, or name one: make run PYTHON=python3.12' >&2; exit 1; }
	@'$(PYTHON)' -c '$(SUPPORTED)' || { echo "localville needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is $$('$(PYTHON)' -V). Name another one: make run PYTHON=python3.12" >&2; exit 1; }
	@if ! { $(PY) -c '$(SUPPORTED)' && $(PY) -m pip --version; } >/dev/null 2>&1; then \
	  echo 'Setting up $(VENV) …'; '$(PYTHON)' -m venv --clear $(VENV); fi
	@$(PY) -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec("llama_cpp"))' || command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || { \
	  echo 'llama-cpp-python is built from source and needs a C and C++ compiler (Debian, Ubuntu: apt install build-essential cmake; macOS: xcode-select --install).' >&2; exit 1; }
	@echo 'Installing torch (the CPU build takes a minute; see the README if several GB begin to arrive) …'
	@$(PIP) install $(TORCH_FLAGS) -c constraints.txt torch
	@echo 'Installing the rest; llama-cpp-python is built from source once, which takes 6 to 10 minutes on two cores …'
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $(READY)
