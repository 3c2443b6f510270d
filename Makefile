# Makefile: all targets of this repository. Everything is built in build/; nothing is written elsewhere.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

include tools/penstock/mpi.env
export $(shell sed -n 's/^\([A-Za-z_]*\)=.*/\1/p' tools/penstock/mpi.env)

PREFIX ?= /usr/local
BIN := build/venv/bin
CXX_SOURCES = $(shell find include core bindings bench programs examples tests docs/reproducers \
  \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \))
PYTHON_SOURCES := tools bindings/fortran \
  $(addprefix tests/,python fortran languages fuzz checkers cluster faults series unmodified)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

build: prepare-run build-dev ## Build the library, penstock-bench, the examples and the tools, with Open MPI

demo: ## Run the main job: checkpoint, restart, the file, a picture, and all methods measured
	@scripts/install-dependencies build
	@scripts/demo

test: prepare-test ## Run what continuous integration runs: checks, builds with both MPIs and none, all tests
	@scripts/test

quick: prepare-test ## Run the checks, and the unit tests of the Open MPI build
	@scripts/test quick

torture: prepare-test configure-dev ## Make each file-system call of each method fail; TORTURE=short: minutes
	@cmake --build build --target torture penstock_inject
	@$(BIN)/python tests/faults/torture.py --program build/bin/torture --preload build/lib/libpenstock_inject.so \
	  --folder build $(if $(filter short,$(TORTURE)),--short)

# Real disks: an hour of writes on ext4, XFS, btrfs and GlusterFS, as root; the short forms are tests.
disks: prepare-test configure-dev ## Fill disks, cut power and kill file servers during writes (needs root)
	@cmake --build build --target torture penstock_inject
	@for what in space power gluster; do $(BIN)/python tests/faults/$$what.py --program build/bin/torture \
	  $$([ $$what = space ] || echo --preload build/lib/libpenstock_inject.so) || [ $$? = 77 ]; done

test-cluster: prepare-test ## Run on several hosts, on GlusterFS and under Slurm, all on this machine (needs root)
	@scripts/test cluster

# Which suites: SUITES="romio/openmpi hdf5/openmpi"; IOR=, E3SM_IO= and H5BENCH=PATH have tests, too. Hours for all.
test-unmodified: prepare-test configure-dev ## Run other projects' tests with libpenstock_mpiio and without (hours)
	@scripts/install-dependencies unmodified
	@cmake --build build
	@[ -z "$(filter-out %/openmpi %/romio,$(or $(SUITES),all))" ] || { make configure-mpich && cmake --build build/mpich; }
	@$(BIN)/python tests/unmodified/unmodified.py --build build --mpich build/mpich \
	  $(foreach program,IOR E3SM_IO H5BENCH,$(if $($(program)),--program $(program)=$($(program)))) $(SUITES)

fault-table: prepare-test configure-dev ## Print the table of docs/faults.md, by library and fault (needs root)
	@cmake --build build --target torture plain penstock_inject
	@$(BIN)/python tests/faults/peers.py --program build/bin/torture --plain build/bin/plain \
	  --preload build/lib/libpenstock_inject.so

fuzz: prepare-test prepare-check build-fuzz ## Run each fuzzer for SECONDS (60); FUZZERS="index file" selects some
	@build/venv/bin/python tests/fuzz/run.py --programs build/fuzz/bin --keep build/fuzz/found \
	  --seconds $(or $(SECONDS),60) $(FUZZERS)

check-threads: prepare-test configure-tsan ## Run the threaded code under the thread sanitizer
	@scripts/test threads

check-memory: prepare-test prepare-check configure-dev ## Run two ranks under valgrind (minutes)
	@cmake --build build --target conformance
	@for format in raw hdf5; do \
	  $(BIN)/python tests/checkers/memory.py valgrind -- mpiexec.openmpi -n 2 -- \
	    build/bin/conformance --quick --only everything --plan $$format/two_phase || exit 1; done

check-objects: prepare-test build ## Find MPI objects that the library leaves at MPI_Finalize
	@cmake --build --preset dev-tests
	@ctest --preset dev --label-regex finalize

nightly: prepare-test prepare-check ## Run all that test leaves out: sanitizers, many ranks, disks (hours; needs root)
	@scripts/test nightly

examples: build ## Build the examples and run each on a small problem
	@scripts/examples

docs: prepare-test ## Make the documentation in build/docs/html, and the man pages in build/man
	@PYTHONPATH=tools $(BIN)/python tools/manual man build/man
	@PYTHONPATH=tools $(BIN)/python tools/manual site build/docs

lint: prepare-test configure-dev ## Check includes, first and long lines, formatting and types
	@$(BIN)/python tools/checks/arrows.py
	@$(BIN)/python tools/checks/lines.py
	@$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES) && echo "clang-format: nothing to change"
	@$(BIN)/ruff check --quiet $(PYTHON_SOURCES)
	@$(BIN)/ruff format --check $(PYTHON_SOURCES)
	@PYTHONPATH=tools $(BIN)/python -m checks.python_arrows
	@$(BIN)/mypy --cache-dir build/.mypy_cache

format: prepare-test ## Format all sources
	@$(BIN)/clang-format -i $(CXX_SOURCES)
	@$(BIN)/ruff check --quiet --fix-only $(PYTHON_SOURCES)
	@$(BIN)/ruff format --quiet $(PYTHON_SOURCES)

# Not bench/kernels.cpp: the analyzer reports the benchmarks that Google's library keeps as leaks. Nor Fortran's glue,
# which needs a header of gcc: the analyzer does not know that refuse() never returns PENSTOCK_OK.
tidy: prepare-test configure-tidy ## Run clang-tidy over the library and the bench (minutes)
	@$(BIN)/run-clang-tidy.py -quiet -p build/tidy -clang-tidy-binary $(BIN)/clang-tidy \
	  '^$(CURDIR)/(core|bindings/(?!fortran)|bench/(?!kernels))'

test-dev test-mpich test-serial test-asan: test-%: prepare-test
	@scripts/test $*
test-mpich: ## Build with MPICH and run its tests
test-serial: ## Build without MPI and run its tests
asan: test-asan ## Build with the address and undefined-behaviour sanitizers and run the unit tests

test-debian13: ## Build and test in a Debian 13 root, with ADIOS2 (needs root; not part of test)
	@scripts/debian13

test-wheel: prepare-test ## Make the wheels, and use each in a fresh environment (minutes; not part of test)
	@scripts/test-wheel

install: prepare-run ## Install what `make build` builds, and the command penstock, below PREFIX (/usr/local)
	@scripts/install $(PREFIX)

wheel: prepare-test ## Make wheels in build/wheels: without MPI, and for each MPI of this machine (minutes)
	@scripts/wheel

clean: ## Remove build/
	rm -rf build

# --- prerequisites of the targets ------------------------------------------------------------------------------------

prepare-run:
	@scripts/install-dependencies build
	@scripts/python-environment run

prepare-test:
	@scripts/install-dependencies build test
	@scripts/python-environment test

prepare-check:
	@scripts/install-dependencies check

configure-%:
	@[ $* != dev ] || install -D -m 755 scripts/penstock build/bin/penstock
	@mkdir -p build && cmake --preset $* >build/configure-$*.log 2>&1 || { cat build/configure-$*.log; exit 1; }

build-%: configure-%
	@cmake --build --preset $*

build-dev-tests: configure-dev
	@cmake --build --preset dev-tests

.PHONY: help build demo test quick torture disks test-cluster test-unmodified fault-table fuzz check-threads \
  check-memory check-objects nightly examples docs lint format tidy test-debian13 wheel test-wheel test-dev test-mpich \
  test-serial test-asan asan install clean prepare-run prepare-test prepare-check
