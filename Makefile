# Two commands are all a user needs: `make demo` and `make test`.
# Everything lands in .venv and target; nothing outside the checkout is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find crates -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export CARGO_TERM_COLOR := never
# Compiled Python is kept: every worker of pytest and every command under test imports all of it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: build tools-are-there demo check unit-tests test test-all lowest-rust ready rust-tests collected python-tests lint lint-python lint-rust docs messages where pictures studies bench bench-profiles validate validate-real dist format requirements clean

# What a build shows: each step, then what cargo compiles. `PROFILE=dist` builds as wheels are built.
STEPS := 2
PROFILE ?= release

# Another profile is another build.
BUILT := $(VENV)/.built-$(PROFILE)

build: $(BUILT)

# What a Linux distribution may lack, said before minutes are spent. Debian 12 has cargo 1.65.
RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
NEEDS_RUST := pgassay is built with Rust $(RUST) or later: install it by https://rustup.rs, or install a wheel, which needs none (docs/install.md)

tools-are-there:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'pgassay needs Python 3.11 or later: make PYTHON=/path/to/python3.11'; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || \
	  { echo 'this Python has no venv: install it (on Debian: python3-venv)'; exit 1; }
	@command -v cargo >/dev/null || { echo 'There is no cargo on the PATH. $(NEEDS_RUST)'; exit 1; }
	@found=$$(cargo --version | cut -d ' ' -f 2); printf '%s\n' $(RUST) "$$found" | sort -CV || \
	  { echo "$$(command -v cargo) is $$found. $(NEEDS_RUST)"; exit 1; }
	@command -v cc >/dev/null || { echo 'pgassay needs a C compiler (on Debian: gcc libc6-dev)'; exit 1; }

# Python compiles what it loads, which is a small part of these packages.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --require-hashes

# What a run needs, and maturin.
$(VENV)/.packages: requirements.txt requirements-build.txt | tools-are-there
	@echo '1 of $(STEPS): Python packages, about 470 MB on the disk'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements.txt -r requirements-build.txt
	@touch $@

# What tests, lint and the documentation need besides.
$(VENV)/.dev: requirements-dev.txt $(VENV)/.packages
	@echo 'Python packages of development, about 700 MB more'
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

DEV := build $(VENV)/.dev

# pip would hide what cargo compiles, so it finds the module compiled.
IN_VENV = PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)"
AS = --locked --profile $(PROFILE)

$(BUILT): $(VENV)/.packages pyproject.toml $(NATIVE) | tools-are-there
	@echo '2 of $(STEPS): native module, about 90 s on two processors'
	@rm -f $(VENV)/.built-*
	@$(IN_VENV) $(BIN)/maturin develop --skip-install $(AS)
	@$(IN_VENV) MATURIN_PEP517_ARGS="$(AS)" \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: STEPS := 3
demo: build
	@echo '3 of 3: the experiment, about 1 min'
	@$(BIN)/pgassay demo

# Steps of which one waits for a disk or one processor while the other computes; each shows its
# output when it ends.
TWO := --no-print-directory --jobs=2 --output-sync=target

UNIT_TESTS := $(BIN)/pytest -n logical --maxprocesses 4 --dist worksteal -m "not slow" tests/unit

# While you work: lint and the quick tests without a server. They need processors, not time, so no
# more run at a time than there are. The native module is as `make build` left it.
check:
	@ls $(VENV)/.built-* >/dev/null 2>&1 || { echo 'run make build once'; exit 1; }
	@$(MAKE) $(TWO) lint
	$(UNIT_TESTS)

unit-tests: $(DEV)
	$(UNIT_TESTS)

# Most of a test is waiting for servers and clocks, so more run at a time than there are processors.
# A file runs in one process, in the order of tests/conftest.py.
WORKERS ?= 6
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
export RUST_TEST_THREADS := $(WORKERS)

test: $(DEV)
	@lacks=$$(sh tests/missing-packages.sh | xargs); test -z "$$lacks" || \
	  echo "tests that need them are skipped; to run them: sudo apt-get install $$lacks"
	cargo test --workspace --locked --quiet
	$(PYTEST) -m "not heavy"

python-tests: $(DEV)
	$(PYTEST) -m "not heavy"

# The lowest Rust that Cargo.toml promises, where rustup gives it. Clippy refuses newer parts of the
# standard library in every lint.
LOWEST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
lowest-rust:
	rustup toolchain install $(LOWEST_RUST) --profile minimal --no-self-update
	cargo +$(LOWEST_RUST) check --workspace --locked --quiet --target-dir target/lowest

# With the lowest Rust and the heavy matrices: every version (npm installs 13, 14 and 17 into
# target), every fault.
test-all: $(DEV) lowest-rust
	cargo test --workspace --locked --quiet
	$(PYTEST)

# What `.ci/run` does before `make python-tests`: pip unpacks on one processor while clippy compiles
# on the other, and the tests of Rust, which wait most of the time, run beside the compiler.
ready:
	@$(MAKE) $(TWO) $(VENV)/.dev lint-rust
	@$(MAKE) $(TWO) build lint rust-tests collected

# After clippy, which holds the same folder meanwhile.
rust-tests: lint-rust
	cargo test --workspace --locked --quiet

# Compiles the Python of package and tests once; otherwise all processes of pytest do it at once.
collected: $(DEV)
	@$(BIN)/pytest --collect-only -qq >target/collected.txt || { cat target/collected.txt; exit 1; }

lint: lint-python lint-rust

lint-python: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

# The documentation site, which opens from its folder: target/site/index.html.
docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo target/site/index.html

# The messages of reports, in the catalogues of python/pgassay/languages.
messages: $(DEV)
	$(BIN)/python -m tools.messages.update

# Where a sentence of a report is made, and by which functions: make where TEXT="a piece of it".
where:
	@$(BIN)/python -m tools.messages.where "$(TEXT)"

# The pictures in README.md, of a new run of the demo; `make pictures RUN=DIR` takes a stored run, whose report takes no native module.
pictures: $(if $(RUN),,build) $(VENV)/.dev
	test -n "$(RUN)" || { rm -rf target/demo && $(BIN)/pgassay demo --out target/demo; }
	PYTHONPATH=python:tests $(BIN)/python -m tools.pictures $(or $(RUN),target/demo)

# The pages of docs/studies; `make studies NAME="swappiness dirty-ratio-oltp"` runs these first, `NAME=--all` all that are not kept yet,
# UNTIL=23:30 breaks off then, and RUN=DIR takes a stored run.
studies: $(DEV)
	$(BIN)/python -m tools.studies $(NAME) $(if $(RUN),--run $(RUN)) $(if $(UNTIL),--until $(UNTIL))

bench: $(DEV)
	$(BIN)/python -m bench.engine
	$(BIN)/python -m bench.sampling
	$(BIN)/python -m bench.resets
	$(BIN)/python -m bench.analysis
	$(BIN)/python -m bench.startup
	$(BIN)/python -m bench.parameters
	$(BIN)/python -m bench.replay
	$(BIN)/python -m bench.generators
	$(BIN)/python -m bench.load_hosts
	$(BIN)/python -m bench.observed_week

# The engine as a checkout builds it and as wheels do, each beside pgbench: two pages in target.
bench-profiles:
	@for profile in dist release; do \
	  $(MAKE) --no-print-directory $(DEV) PROFILE=$$profile && \
	    $(BIN)/python -m bench.engine --parts speed --out target/engine-$$profile.md || exit 1; \
	done

validate: $(DEV)
	$(BIN)/python -m bench.validate

# Three to four hours of trials, alone on the machine.
validate-real: $(DEV)
	$(BIN)/python -m bench.real.aa
	$(BIN)/python -m bench.real.aa_rounds
	$(BIN)/python -m bench.real.effect
	$(BIN)/python -m bench.real.agree
	$(BIN)/python -m bench.real.warmup
	$(BIN)/python -m bench.queries.aa
	$(BIN)/python -m bench.queries.changes
	$(BIN)/python -m bench.queries.decided
	$(BIN)/python -m bench.queries.versions

# An sdist and manylinux wheels in dist/, the wheels built from the sdist and tried in an empty
# environment outside of the checkout. maturin and zig are in an environment of their own.
DIST_VENV := target/dist-venv

$(DIST_VENV)/.packages: requirements-dist.txt
	$(PYTHON) -m venv $(DIST_VENV)
	$(DIST_VENV)/bin/python -m pip install --quiet --require-hashes -r requirements-dist.txt
	@touch $@

dist: build $(DIST_VENV)/.packages
	$(BIN)/python -m tools.distribution.build $(DIST_VENV)/bin
	$(BIN)/python -m tools.distribution.check $(TRY)

format:
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .
	cargo fmt --all

# Pins every dependency, with hashes and without addresses: all that tests need, then what a run, a build
# and `make dist` need of the same versions.
PIN = uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
  --no-header --upgrade --quiet

requirements:
	$(PIN) pyproject.toml --all-extras --group dev --output-file requirements-dev.txt
	$(PIN) pyproject.toml --constraint requirements-dev.txt --output-file requirements.txt
	$(PIN) --group build --constraint requirements-dev.txt --output-file requirements-build.txt
	$(PIN) --group dist --constraint requirements-dev.txt --output-file requirements-dist.txt

clean:
	rm -rf $(VENV) target dist python/pgassay/_core*.so
