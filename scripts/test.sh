#!/usr/bin/env bash
# All Go tests with their counts; fails when one fails, or is skipped for want of a tool.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
go test -count=1 -timeout 20m -json "$@" ./... >"$log" || status=$?
go run ./ci/testcount "$log" || status=1

go test -count=1 -race ./models/simcore/... ./rtlbridge/... >"$log" 2>&1 || { cat "$log"; status=1; }
exit "$status"
