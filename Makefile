# The commands of this repository; CONTRIBUTING.md says when to use which. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := bash
.SHELLFLAGS := -o pipefail -c
# Python compiles a module when it first imports it. Compiling all modules at installation takes pip twelve seconds.
export PIP_NO_COMPILE := 1
PIP := $(BIN)/python -m pip --quiet
# One test process more than there are processors, since some tests wait. Each takes up to a gigabyte of memory.
WORKERS := $(shell n=$$(nproc || echo 1); echo $$((n < 8 ? n + 1 : 8)))
PYTEST := $(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp src/playout/include -name '*.h' -o -name '*.cpp')
CPP := $(shell find cpp -name '*.h' -o -name '*.cpp')

.PHONY: build demo test test-slow test-all test-cluster lint format stubs bench sanitize wheel clean

build: $(VENV)/.built

$(VENV)/.created: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Playout needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	@echo "Installing what the build needs into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group build
	@touch $@

$(VENV)/.built: $(VENV)/.created $(SOURCES)
	@mkdir -p build
	@$(BIN)/python -m pip --verbose install --no-build-isolation --editable . 2>&1 | tee build/build.log | \
	  sed -nu 's/.*\(\[[0-9]*\/[0-9]*\]\) Building .*\/\(.*\.cpp\)\.o$$/Building the engine \1 \2/p' || \
	  { grep -v '^ *$$' build/build.log | tail -n 60; exit 1; }
	@touch $@

# Dependency groups of pyproject.toml: the packages of the tests, the large packages of a few tests, the linters.
$(VENV)/.test $(VENV)/.others $(VENV)/.lint: $(VENV)/.%: $(VENV)/.created
	@echo "Installing the packages of the group '$*' into $(VENV) ..."
	@$(PIP) install --group $*
	@touch $@

demo: build
	$(BIN)/playout solve samegame:1 --seconds 20 --output demo.json
	@$(BIN)/playout show demo.json --html demo.html
	@echo "Open demo.html in a browser to watch the solution: file://$(CURDIR)/demo.html"

test: build $(VENV)/.test
	$(PYTEST)

# The tests that take long by their nature; each one states its reason.
test-slow: build $(VENV)/.test
	$(PYTEST) -m slow

# All tests, except for those on three hosts.
test-all: build $(VENV)/.test $(VENV)/.others
	$(PYTEST) -m ""

# Clusters of three hosts that are network namespaces, with kills and cut links: some minutes, as root.
test-cluster: build $(VENV)/.test
	$(BIN)/python -m pytest tests/hosts

lint: build $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	ls cpp/bindings/*.cpp | xargs -P $$(nproc || echo 1) -n 1 $(BIN)/clang-tidy --quiet -p build/editable

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

stubs: build
	$(BIN)/python -m nanobind.stubgen -q -m playout._core -o src/playout/_core.pyi

bench: build
	$(BIN)/playout bench

# The tests of what is threaded or parses, under each sanitizer.
sanitize: build $(VENV)/.test
	$(BIN)/python tests/sanitize.py

wheel: build
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build dist $(VENV) src/playout/_core.*.so
