#!/usr/bin/env bash
# Runs all tests and prints their counts. Fails if a test fails or, for want of a tool, is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Captures from elsewhere are not shipped; they are played if they lie beside the repository.
captures=../shared/captures/clear
if [ -z "${NICTWIN_TEST_CAPTURES:-}" ] && [ -d "$captures" ]; then
  NICTWIN_TEST_CAPTURES=$(cd "$captures" && pwd)
  export NICTWIN_TEST_CAPTURES
fi

# Less frequent garbage collection saves a fifth of the processor time; the tests' heaps stay small anyway.
export GOGC=${GOGC:-400}

# The time limit catches hanging tests; it is far above the time that a slow, busy machine takes.
status=0
go test -count=1 -timeout 90m -json "$@" ./... >"$log" || status=$?
# Tests of the package that is built with Akita's tools (tag akitaview), which need a C compiler.
command -v gcc >/dev/null || export CC=clang
CGO_ENABLED=1 go test -count=1 -timeout 90m -json -tags akitaview ./scenarios/observe/akitaview >>"$log" || status=$?
go run ./ci/testcount "$log" || status=1

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=rtlbridge/python python3 -m unittest discover -s rtlbridge/python/tests \
  -t rtlbridge/python || status=1

make -s race >"$log" 2>&1 || { cat "$log"; status=1; }
exit "$status"
