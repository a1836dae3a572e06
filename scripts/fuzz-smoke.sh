#!/usr/bin/env bash
# Runs every Go fuzz target for a time (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
git grep -lE '^func Fuzz' -- '*_test.go' | while read -r file; do
  for target in $(grep -oE '^func (Fuzz[A-Za-z0-9_]+)' "$file" | cut -d' ' -f2); do
    echo "== $(dirname "$file") $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")"
  done
done
