#!/usr/bin/env bash
# Checks that seeded bugs are caught. Each patch of ci/mutants is applied to a copy of verilator/, built, and played
# under the settings below until one of them catches the bug: the shipped captures (nictwin replay) or, if the patch
# says so, random programs (nictwin fuzz), the contract suite, the block by itself (nictwin blocks), or a scenario of
# the stack (nictwin run), where both the application and the referee must see the bug.
#
#   scripts/mutants.sh [-j JOBS] [-o REPORT] [-c CAPTURE]... [-f PROGRAMS] [-s SEED] [-b] [-l] [NAME...]
#
#   -j  mutants in parallel (default 1)    -c  another capture to play after the shipped ones
#   -o  table of results, tab separated    -f  this many random programs for every mutant, no captures
#   -l  list the mutants                   -s  seed of the random programs (default 4)
#   -b  play every mutant on its block by itself, no captures
#
# Exit codes: 0 every mutant ended as its patch expects; 1 one that should be caught survived, or could not be judged;
# 2 usage. ci/mutants/README.md describes the `key: value` lines before the diff of a patch.
set -euo pipefail
cd "$(dirname "$0")/.."

patches=ci/mutants
build_limit=900 # seconds
play_limit=300
replays=("--stall 0" "--stall 30" "--stall 30 --recompute csum,icrc")
programs=100 seed=4 # number and seed of random programs

field() { sed -n "s/^$1: //p;/^--- /q" "$patches/$2.patch"; }

# how NAME: prints how a mutant is played: replay, fuzz, contract, blocks or stack
how() {
  local h=$forced
  [ -n "$h" ] || h=$(field play "$1")
  echo "${h:-replay}"
}

# pair NAME: prints the block that is played on its own
pair() {
  local b
  b=$(field alone "$1")
  echo "${b:-$(field block "$1")}"
}

# drawn NAME: prints the number and seed of its random programs as NUMBER:SEED; empty means the default
drawn() {
  if [ -n "$forced" ]; then echo :; else echo "$(field programs "$1"):$(field seed "$1")"; fi
}

# ports NAME: prints the number of ports of the NIC for the contract suite
ports() {
  local p
  p=$(field ports "$1")
  echo "${p:-1}"
}

# settings_of HOW PORTS SCENARIO NUMBER:SEED: prints the settings to play under, one per line
settings_of() {
  local number=${4%:*} from=${4#*:}
  case $1 in
    replay) printf '%s\n' "${replays[@]}" ;;
    fuzz) echo "--runs ${number:-$programs} --seed ${from:-$seed} --variant speed" ;;
    contract) echo "TestRTL/ports_$2" ;;
    blocks) echo "--runs 8" ;;
    stack) echo "${3/ / --only }" ;;
  esac
}

# play HOW SETTING HOME [FLAG...]: plays once with the RTL in the folder HOME; returns the exit code
play() {
  local how=$1 s=$2 home=$3
  shift 3
  # shellcheck disable=SC2086 # settings are several words
  case $how in
    replay) timeout -k 10 "$limit" bin/nictwin replay --dir both $s --seed 1 --no-artifacts --home "$home" "$@" \
      "${captures[@]}" ;;
    fuzz) timeout -k 10 "$limit" bin/nictwin fuzz $s --ports 1 --jobs 1 --failures 1 --shrink=false \
      --no-artifacts --home "$home" "$@" ;;
    contract) (cd scenarios/suite/contract && NICTWIN_HOME=$home timeout -k 10 "$limit" "$work/contract.test" \
      -test.failfast -test.run "^${s/\//$/^}\$") ;;
    blocks) timeout -k 10 "$limit" bin/nictwin blocks $s --seed 1 --home "$home" "$@" ;;
    stack) timeout -k 10 "$limit" bin/nictwin run $s --nic rtl --no-artifacts --json --home "$home" "$@" ;;
  esac
}

# both RULE: succeeds if the JSON of a scenario has both a wrong byte found by the application and a mismatch
# with this rule found by the referee
both() {
  local found
  found=$(cat)
  [[ $found == *'"domain":"application","field":"byte"'* && $found == *"\"rule\":\"$1\""* ]]
}

# message HOW: prints the first finding in the output of a run
message() {
  case $1 in
    contract) awk '
      /--- FAIL: TestRTL\/ports_[12]\/.*stall_/ { check = $0; gsub(/.*ports_[12]\/|_\[.*/, "", check) }
      /the referee: cycle / { sub(/.*the referee: cycle [0-9]+, /, ""); seen = $0; exit }
      / mismatches, the first: cycle / { sub(/.* the first: cycle [0-9]+, /, ""); seen = $0; exit }
      /Error: |Messages: / { sub(/.*(Error|Messages): *\t*/, ""); seen = $0 }
      END { print check ": " seen }' ;;
    stack) grep -o '"field":"byte"[^}]*' | sed -n '1s/.*"text":"\([^"]*\)".*/\1/p' ;;
    *) sed -n '/^FAIL/{n;s/^ *//;p;q}' ;;
  esac | tr '\t' ' ' | cut -c1-300
}

# judge NAME DIR: writes one line NAME BLOCK EXPECT OUTCOME SETTING SECONDS MESSAGE BLOCKS to DIR/result
judge() {
  local name=$1 dir=$2 status=0 outcome=survived with=- secs=- what=- blocks=- out=$2/out limit=$play_limit how s all
  local more=()
  how=$(how "$name")
  read -ra more <<<"$(field flags "$name")"
  if [ "$how" = blocks ]; then
    more=("$(pair "$name")")
    limit=$((build_limit + play_limit)) # includes a build, because nictwin blocks builds the device itself
  fi
  cp -r verilator "$dir/verilator"
  if ! patch -d "$dir" -p1 -s -f --no-backup-if-mismatch <"$patches/$name.patch" >"$out" 2>&1; then
    outcome=no-longer-applies what=$(tr '\n\t' '  ' <"$out")
  elif [ "$how" != blocks ] && ! NICTWIN_CACHE=$work/cache timeout -k 10 "$build_limit" \
    bin/nictwin dut build nic --home "$dir" "${more[@]}" >"$out" 2>&1; then
    outcome=no-build what=$(tail -3 "$out" | tr '\n\t' '  ')
  else
    mapfile -t all < <(settings_of "$how" "$(ports "$name")" "$(field scenario "$name")" "$(drawn "$name")")
    for s in "${all[@]}"; do
      status=0
      NICTWIN_CACHE=$work/cache play "$how" "$s" "$dir" "${more[@]}" >"$out" 2>&1 || status=$?
      case $status in
        0) continue ;;
        1) outcome=caught; [ "$how" != stack ] || both "$(field rule "$name")" <"$out" || outcome=one-sided ;;
        124 | 137) outcome=no-end what="no verdict in $play_limit s" ;;
        *) outcome=no-verdict what="exit $status: $(tail -3 "$out" | tr '\n\t' '  ')" ;;
      esac
      with="$how $s"
      if [ "$outcome" = caught ]; then
        what=$(message "$how" <"$out")
        blocks=$(grep -oE 'nic_[a-z0-9_]+\.sv' "$out" | sed -n 1p || echo -)
        secs=$(grep -m1 -oE '[0-9.]+ s wall' "$out" | cut -d' ' -f1 || echo -)
      fi
      cp "$out" "$dir/last"
      break
    done
  fi
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$(field block "$name")" "$(field expect "$name")" "$outcome" \
    "$with" "$secs" "$what" "$blocks" >"$dir/result"
}

usage() { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }

jobs=1 report='' list='' forced='' extra=()
while getopts j:o:c:f:s:blh opt; do
  case $opt in
    j) jobs=$OPTARG ;;
    o) report=$OPTARG ;;
    c) extra+=("$OPTARG") ;;
    f) forced=fuzz programs=$OPTARG ;;
    b) forced=blocks ;;
    s) seed=$OPTARG ;;
    l) list=1 ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[[ $jobs =~ ^[1-9][0-9]*$ && $programs =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || usage

names=("$@")
((${#names[@]})) || for p in "$patches"/*.patch; do names+=("$(basename "$p" .patch)"); done
for n in "${names[@]}"; do
  [ -e "$patches/$n.patch" ] || { echo "mutants: no $patches/$n.patch" >&2; exit 2; }
  [[ $(field expect "$n") =~ ^(caught|survives)$ ]] ||
    { echo "mutants: $n: expect: want caught or survives" >&2; exit 2; }
  [[ $(how "$n") =~ ^(replay|fuzz|contract|blocks|stack)$ ]] ||
    { echo "mutants: $n: play: want replay, fuzz, contract, blocks or stack" >&2; exit 2; }
done
if [ -n "$list" ]; then
  for n in "${names[@]}"; do
    printf '%-24s %-10s %-9s %-7s %s\n' "$n" "$(field block "$n")" "$(field expect "$n")" "$(how "$n")" \
      "$(field bug "$n")"
  done
  exit 0
fi

for t in patch verilator timeout; do
  command -v "$t" >/dev/null || { echo "mutants: $t is missing: apt-get install $t" >&2; exit 2; }
done
make -s build # bin/nictwin must match the harness
mapfile -t captures < <(find scenarios/captures -name '*.pcap' -o -name '*.pcapng' | LC_ALL=C sort)
captures+=("${extra[@]}")

work=$(mktemp -d)
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

[[ " $(for n in "${names[@]}"; do how "$n"; done | tr '\n' ' ')" != *" contract "* ]] ||
  go test -c -o "$work/contract.test" ./scenarios/suite/contract

# Mutants share a cache, so that code that does not depend on the RTL is compiled only once.
mkdir "$work/cache"

# The RTL without bugs must pass first, or the results would mean nothing.
limit=$((build_limit + play_limit))
while read -r h p d flags; do
  while read -r s; do
    # shellcheck disable=SC2086 # flags are several words
    play "$h" "$s" "$PWD" $([ "$h" = stack ] || echo "$flags") >"$work/clean" 2>&1 </dev/null ||
      { cat "$work/clean"; echo "mutants: the RTL without a bug does not pass ($h $s $flags)" >&2; exit 1; }
  done < <(settings_of "$h" "$p" "$([ "$h" != stack ] || echo "$flags")" "$d")
done < <(for n in "${names[@]}"; do
  key=flags
  [ "$(how "$n")" != stack ] || key=scenario
  echo "$(how "$n") $(ports "$n") $(drawn "$n") $(field $key "$n")"
done | sort -u)

for n in "${names[@]}"; do
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
  (
    dir=$work/$n
    mkdir "$dir"
    judge "$n" "$dir"
    cut -f1-7 --output-delimiter=' | ' "$dir/result"
    rm -rf "$dir/verilator"
  ) &
done
wait

wrong=0 caught=0 count=0
for n in "${names[@]}"; do
  count=$((count + 1))
  IFS=$'\t' read -r _ _ expect outcome _ <"$work/$n/result" || outcome=no-result expect=caught
  [ "$outcome" = caught ] && caught=$((caught + 1))
  case $expect,$outcome in
    caught,caught | survives,survived) ;;
    survives,caught) echo "mutants: $n is caught now: change expect in its patch" ;;
    *) wrong=$((wrong + 1)); echo "mutants: $n: $outcome, but expected: $expect" ;;
  esac
  [ -z "$report" ] || cat "$work/$n/result" >>"$report.part"
done
[ -z "$report" ] || mv "$report.part" "$report"
echo "$caught of $count mutants caught"
((wrong == 0))
