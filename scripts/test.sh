#!/usr/bin/env bash
# All Go tests with their counts; fails when one fails, or is skipped for want of a tool.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Captures of other origin are not shipped; they are played where they lie beside the repository.
captures=../shared/captures/clear
if [ -z "${NICTWIN_TEST_CAPTURES:-}" ] && [ -d "$captures" ]; then
  NICTWIN_TEST_CAPTURES=$(cd "$captures" && pwd)
  export NICTWIN_TEST_CAPTURES
fi

# Collecting garbage less often saves a fifth of the processors' time; the heaps of the tests stay small all the same.
export GOGC=${GOGC:-400}

# A time limit is for what hangs: it is far from what a slow machine takes that is busy.
status=0
go test -count=1 -timeout 90m -json "$@" ./... >"$log" || status=$?
# What only a build with Akita's tools has; they want a C compiler.
command -v gcc >/dev/null || export CC=clang
CGO_ENABLED=1 go test -count=1 -timeout 90m -json -tags akitaview ./scenarios/observe/akitaview >>"$log" || status=$?
go run ./ci/testcount "$log" || status=1

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=rtlbridge/python python3 -m unittest discover -s rtlbridge/python/tests -t rtlbridge/python || status=1

make -s race >"$log" 2>&1 || { cat "$log"; status=1; }
exit "$status"
