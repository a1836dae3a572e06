#!/usr/bin/env bash
# Measures the line and bit coverage of the RTL. Plays on coverage builds: the contract suite in all its builds, random
# programs on one port, two ports and the largest build, and the shipped captures, the synthetic ones so often that
# 16-bit indices wrap twice.
#
#   scripts/coverage.sh [-o FOLDER] [-r PROGRAMS] [-q]
#
#   -o  folder for the counts (default out/coverage; emptied first)
#   -r  random programs of each of two seeds, and of a third one on the largest build (default 150)
#   -q  quick: the contract suite with one port and two only
#
# Exit codes: 0 line points and bits reach their minimum; 1 they do not, or a run failed; 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."

min_lines=95 min_bits=90
out=out/coverage programs=150 suite='TestRTL$|TestLargestRTL'
while getopts 'o:r:q' o; do
  case $o in
    o) out=$OPTARG ;;
    r) programs=$OPTARG ;;
    q) suite='TestRTL$/^ports' ;;
    *) exit 2 ;;
  esac
done
[ $OPTIND -gt $# ] || { echo "$0: unknown word ${*:$OPTIND:1}" >&2; exit 2; }

rm -rf "$out"
mkdir -p "$out"
dir=$(cd "$out" && pwd)
status=0
NICTWIN_RTL_COVERAGE=$dir go test -count=1 -timeout 120m -run "$suite" ./scenarios/suite/contract || status=1
for seed in 21 22; do
  bin/nictwin fuzz --runs "$programs" --seed "$seed" --no-artifacts --shrink=false --rtl-coverage "$dir" || status=1
done
bin/nictwin fuzz --build large --runs "$programs" --seed 23 --no-artifacts --shrink=false --rtl-coverage "$dir" ||
  status=1
for stall in 0 30; do
  bin/nictwin replay --dir both --ports 2 --stall "$stall" --loop 2 --recompute csum,icrc --no-artifacts \
    --rtl-coverage "$dir" scenarios/captures/softroce/*.pcap scenarios/captures/synthetic/*.pcap || status=1
done
bin/nictwin replay --dir both --ports 1 --loop 330 --no-artifacts --rtl-coverage "$dir" \
  scenarios/captures/synthetic/*.pcap || status=1
bin/nictwin coverage "$dir" --exclude ci/coverage.yaml --min-lines "$min_lines" --min-bits "$min_bits" || status=1
exit "$status"
