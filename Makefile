# nictwin: `make demo` runs the main job, `make test` passes the tests; both set a fresh machine up first.
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BIN         := bin/nictwin
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK    := github.com/kisielk/errcheck@v1.30.0
DEMO        := $(sort $(wildcard scenarios/captures/softroce/*.pcap scenarios/captures/synthetic/*.pcap))

# The program knows its revision, whatever GOFLAGS say of that, wherever git can tell.
VCS = $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo true || echo false)

.DEFAULT_GOAL := help
.PHONY: help setup build build-akitaview demo test test-all unit race lint rtl-lint rtl-figures rtl-figures-write coverage fuzz-smoke bench generate profile clean mutants mutants-stack

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## install what is missing (Debian packages; Go modules; tools that read RTL)
	@scripts/setup.sh

build: ## bin/nictwin
	@mkdir -p $(dir $(BIN))
	go build -trimpath -buildvcs=$(VCS) -o $(BIN) ./cmd/nictwin

# Akita's monitor and its traces want cgo, so a C compiler: gcc, or clang where there is none.
CGO = CGO_ENABLED=1 $(if $(shell command -v gcc),,CC=clang)

build-akitaview: ## bin/nictwin with Akita's monitor and traces (docs/akitaview.md)
	@mkdir -p $(dir $(BIN))
	$(CGO) go build -trimpath -buildvcs=$(VCS) -tags akitaview -o $(BIN) ./cmd/nictwin

demo: setup build ## replay the shipped captures through the RTL, both directions, and show the result
	@$(BIN) replay --nic rtl --dir both --speed 50 --seed 1 --stall 10 --out out/demo $(DEMO)
	@echo; echo "The same on the Go model of the NIC:"
	@$(BIN) replay --nic model --dir both --speed 50 --seed 1 --stall 10 --out out/demo-model $(DEMO)

test: setup lint rtl-lint build ## everything that must pass: linters, all tests, race detector, fuzz seeds
	@scripts/test.sh

test-all: ## the same, random programs ten times as many (long)
	@NICTWIN_LONG=10 $(MAKE) test
	@$(MAKE) rtl-figures

unit: ## the Go tests alone
	go test -timeout 90m ./...

race: ## the packages with goroutines, under the race detector; but those that wait for compilers
	go test -count=1 -timeout 90m -race ./models/sim/simcore/... ./rtlbridge ./rtlbridge/protocol ./rtlbridge/lockfile ./rtlbridge/build/cache ./scenarios/traffic/...

lint: ## gofmt, go vet, staticcheck, errcheck (pinned)
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go run $(ERRCHECK) -ignoretests -exclude ci/errcheck.txt ./...
	$(CGO) go vet -tags akitaview ./scenarios/observe/akitaview
	$(CGO) go run $(STATICCHECK) -tags akitaview ./scenarios/observe/akitaview
	$(CGO) go run $(ERRCHECK) -ignoretests -exclude ci/errcheck.txt -tags akitaview ./scenarios/observe/akitaview

rtl-lint: ## verilator --lint-only -Wall over every top, slang, yosys; no waivers
	@verilator/lint.sh

rtl-figures: ## sizes of the RTL's modules beside the table in docs/rtl.md; a growth by a tenth fails
	@cd verilator && ../.venv/bin/python figures.py check

rtl-figures-write: ## the table anew
	@cd verilator && ../.venv/bin/python figures.py write

coverage: build ## what of the RTL is exercised: lines and bits, module by module (long: builds that count, and all they play)
	@scripts/coverage.sh

fuzz-smoke: ## every fuzz target for ten seconds
	@scripts/fuzz-smoke.sh 10s

bench: build ## the figures, each a ratio measured in one run
	$(BIN) bench

generate: ## registers and layouts for Go, SystemVerilog and the docs
	go generate ./models/nic/nicspec

profile: ## cmd/nictwin/default.pgo, by which Go optimises the program, anew (a quiet machine)
	@scripts/profile.sh

mutants: build ## bugs put into the RTL on purpose: which are caught?
	@scripts/mutants.sh

mutants-stack: ## those that the stack's traffic meets: does the application find each, and does the referee name it?
	@NICTWIN_LONG=1 go test -count=1 -timeout 90m -v -run '^TestSeededBugs$$' ./scenarios/run

clean: ## remove what was built here
	rm -rf bin out
