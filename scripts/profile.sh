#!/usr/bin/env bash
# Records cmd/nictwin/default.pgo, the profile for Go's optimiser: traffic through a whole card, RDMA WRITEs between
# two servers, the stack on Go NICs and on RTL, TLPs across links and a switch. A stale profile costs speed, never
# results. Run it on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
profile() { # PACKAGE BENCHMARK TIME: records one benchmark, run for a time or a count (Nx)
  go test -trimpath -c -pgo=off -o "$tmp/$2.test" "./$1"
  (cd "$1" && NICTWIN_HOME=$OLDPWD "$tmp/$2.test" -test.run '^$' -test.bench "$2" -test.benchtime "$3" \
    -test.cpuprofile "$tmp/$2.prof")
}
profile scenarios/bench BenchmarkCard 200x
profile scenarios/bench BenchmarkVerbs 100x
profile scenarios/bench BenchmarkStack 5x
profile models/fabric/nicswitch BenchmarkLinkSwitchLink 10000000x
go tool pprof -proto -output cmd/nictwin/default.pgo "$tmp"/*.prof
