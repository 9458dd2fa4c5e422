# The commands of this repository; CONTRIBUTING.md says when to use which. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp -name '*.h' -o -name '*.cpp')
CPP := $(shell find cpp -name '*.h' -o -name '*.cpp')

.PHONY: build demo test test-slow test-cluster lint format stubs bench sanitize wheel clean

build: $(VENV)/.built

$(VENV)/.created: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Playout needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group build --group test
	touch $@

$(VENV)/.built: $(VENV)/.created $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

$(VENV)/.lint: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group lint
	touch $@

demo: build
	$(BIN)/playout solve samegame:1 --seconds 30 --output demo.json
	@$(BIN)/playout show demo.json --html demo.html
	@echo "Open demo.html in a browser to watch the solution: file://$(CURDIR)/demo.html"

test: build
	$(BIN)/python -m pytest

# What takes a minute or more.
test-slow: build
	$(BIN)/python -m pytest -m slow

# Clusters of three hosts that are network namespaces, with kills and cut links: some minutes, as root.
test-cluster: build
	$(BIN)/python -m pytest tests/hosts

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/clang-tidy --quiet -p build/editable cpp/bindings/*.cpp

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

stubs: build
	$(BIN)/python -m nanobind.stubgen -q -m playout._core -o src/playout/_core.pyi

bench: build
	$(BIN)/playout bench

# The tests of what is threaded or parses, under each sanitizer.
sanitize: build
	$(BIN)/python tests/sanitize.py

wheel: build
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build dist $(VENV)
