# nictwin: `make demo` runs the main job, `make test` runs the tests; both first install what a fresh machine lacks.
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BIN         := bin/nictwin
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK    := github.com/kisielk/errcheck@v1.30.0
DEMO        := $(sort $(wildcard scenarios/captures/softroce/*.pcap scenarios/captures/synthetic/*.pcap))

# true in a git checkout: the program then carries its revision, even if GOFLAGS has -buildvcs=false.
VCS = $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo true || echo false)

.DEFAULT_GOAL := help
.PHONY: help setup build build-akitaview demo test test-all unit race lint rtl-lint rtl-figures rtl-figures-write coverage fuzz-smoke emulation-test bench generate profile clean mutants mutants-stack

help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: ## install missing Debian packages, Go modules and RTL tools
	@scripts/setup.sh

build: ## compile bin/nictwin
	@mkdir -p $(dir $(BIN))
	go build -trimpath -buildvcs=$(VCS) -o $(BIN) ./cmd/nictwin

# Akita's monitor and traces need cgo and hence a C compiler: gcc, or else clang.
CGO = CGO_ENABLED=1 $(if $(shell command -v gcc),,CC=clang)

build-akitaview: ## compile bin/nictwin with Akita's monitor and traces (docs/akitaview.md)
	@mkdir -p $(dir $(BIN))
	$(CGO) go build -trimpath -buildvcs=$(VCS) -tags akitaview -o $(BIN) ./cmd/nictwin

demo: setup build ## replay the shipped captures through the RTL and the Go model, in both directions
	@$(BIN) replay --nic rtl --dir both --speed 50 --seed 1 --stall 10 --out out/demo $(DEMO)
	@echo; echo "The same on the Go model of the NIC:"
	@$(BIN) replay --nic model --dir both --speed 50 --seed 1 --stall 10 --out out/demo-model $(DEMO)

test: setup lint rtl-lint build ## run all linters and tests, with the race detector and fuzz seeds
	@scripts/test.sh

test-all: ## the same with ten times as many random programs (long)
	@NICTWIN_LONG=10 $(MAKE) test
	@$(MAKE) rtl-figures

unit: ## run the Go tests only
	go test -timeout 90m ./...

race: ## run tests of concurrent packages under the race detector (not those that wait for compilers)
	go test -count=1 -timeout 90m -race ./models/sim/simcore/... ./rtlbridge ./rtlbridge/protocol ./rtlbridge/lockfile ./rtlbridge/build/cache ./scenarios/traffic/...

lint: ## run gofmt, go vet, staticcheck and errcheck (pinned versions)
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go run $(ERRCHECK) -ignoretests -exclude ci/errcheck.txt ./...
	$(CGO) go vet -tags akitaview ./scenarios/observe/akitaview
	$(CGO) go run $(STATICCHECK) -tags akitaview ./scenarios/observe/akitaview
	$(CGO) go run $(ERRCHECK) -ignoretests -exclude ci/errcheck.txt -tags akitaview ./scenarios/observe/akitaview

rtl-lint: ## run verilator --lint-only -Wall, slang and yosys on every top, without waivers
	@verilator/lint.sh

rtl-figures: ## compare RTL module sizes with the table in docs/rtl.md; 10% growth fails
	@cd verilator && ../.venv/bin/python figures.py check

rtl-figures-write: ## rewrite that table
	@cd verilator && ../.venv/bin/python figures.py write

coverage: build ## measure RTL line and bit coverage by module (long)
	@scripts/coverage.sh

fuzz-smoke: ## run every Go fuzz target for ten seconds
	@scripts/fuzz-smoke.sh 10s

emulation-test: setup build ## compare plays through emulation shells with plays without, and find bugs in shells (long)
	NICTWIN_LONG=1 go test -count=1 -timeout 60m ./rtlbridge/emulation
	@scripts/emulation-test.sh

bench: build ## run all benchmarks
	$(BIN) bench

generate: ## generate registers and layouts for Go, SystemVerilog and the docs
	go generate ./models/nic/nicspec

profile: ## rewrite cmd/nictwin/default.pgo, the profile for Go's optimiser (on a quiet machine)
	@scripts/profile.sh

mutants: build ## put seeded bugs into the RTL and report which are caught (long)
	@scripts/mutants.sh

mutants-stack: ## play the stack's traffic on its seeded bugs; application and referee must both see each
	@NICTWIN_LONG=1 go test -count=1 -timeout 90m -v -run '^TestSeededBugs$$' ./scenarios/run

clean: ## remove bin and out
	rm -rf bin out
