# For those who do not want to know CMake: every target installs what it needs first. `make help` lists them.
# ARGS is handed on: make conformance ARGS="-k gru", make test ARGS="-L engine".

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
RELEASE := build/release/build.ninja

.DEFAULT_GOAL := help
.PHONY: help setup build test conformance conformance-all data soak mutate bench format lint check install clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 25

setup: ## install the missing packages and the private Python environment
	@scripts/setup

build: setup $(RELEASE) ## build build/release/bin/grurun
	@cmake --build --preset release -j $(JOBS) --target grurun

$(RELEASE): CMakePresets.json | setup
	cmake --preset release
	@touch $@

test: setup $(RELEASE) ## build everything, then run every test
	@cmake --build --preset release -j $(JOBS)
	@ctest --preset release -j $(JOBS) $(ARGS)

data: ## obtain the official test data of ONNX
	@scripts/fetch-onnx-data

conformance: build ## run the official ONNX cases
	@scripts/conformance -j $(JOBS) $(ARGS)

conformance-all: build ## run the official ONNX cases of every release back to 1.2
	@.venv/bin/python scripts/conformance_all.py -j $(JOBS) $(ARGS)

soak: setup $(RELEASE) ## run the official cases ROUNDS (200) times in one process, killing workers at random
	@cmake --build --preset release -j $(JOBS) --target conformance_tests
	@GRURUN_SOAK_SUITE=$(or $(SUITE),testdata/official/onnx-1.22.0) GRURUN_SOAK_ROUNDS=$(or $(ROUNDS),200) \
	  build/release/tests/conformance_tests --gtest_filter='Soak.*'

mutate: setup ## break the recurrent kernels and see testdata/recurrent notice
	@scripts/mutate-recurrent $(ARGS)

bench: build ## run the benchmarks
	@scripts/bench $(ARGS)

format: ## format the sources in place
	@scripts/setup --ci
	@scripts/format

lint: ## run the fatal checks of clang-tidy, and ruff on Python
	@scripts/setup --ci
	@scripts/lint-python
	@scripts/lint

check: ## everything that CI does
	@scripts/check

install: build ## install below PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove the builds, keeping the dependencies in build/deps
	@find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} + 2>/dev/null || true
