#!/usr/bin/env bash
# Compares plays through emulation shells with plays without: the digests must be equal. All shipped captures, random
# programs on one and two ports, the tutorial, blocks. Prints a line for each comparison.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=bin/nictwin

# digest OBJECT: of a command's result
digest() { grep -oE '"digest":"[0-9a-f]+"' <<<"$1" | head -1; }

# builds OBJECT: hashes of the devices that a result is of, one a line
builds() { grep -oE '"builds?":(\[[^]]*\]|"[0-9a-f]+")' <<<"$1" | grep -oE '[0-9a-f]{64}' | sort -u; }

# fail TEXT
fail() {
  echo "emulation: $1" >&2
  exit 1
}

# same LINK ARGUMENTS...: compares a command with and without the link, and checks that it had no build in common: else
# the link was not used
same() {
  local link=$1 plain linked begin=$SECONDS what
  shift
  what="nictwin $(tr '\n' ' ' <<<"${*:1:8}")"
  plain=$("$bin" "$@" --json)
  linked=$("$bin" "$@" --json --link "$link")
  [[ -n $(digest "$plain") && $(digest "$plain") == $(digest "$linked") ]] ||
    fail "differs through --link $link: nictwin $*: $(digest "$linked"), want $(digest "$plain")"
  [[ $linked == *"\"link\":\"$link\""* && -n $(builds "$plain") && -n $(builds "$linked") &&
    -z $(comm -12 <(builds "$plain") <(builds "$linked")) ]] || fail "$what: --link $link was not used"
  echo "same through --link $link: $what: $(digest "$plain"), $((SECONDS - begin)) s"
}

captures=(scenarios/captures/softroce/*.pcap scenarios/captures/synthetic/*.pcap)
for stall in 0 30; do
  same sim replay --nic rtl --dir both --seed 1 --stall "$stall" --no-artifacts "${captures[@]}"
done
same sim,faults=1 replay --nic rtl --dir both --speed 50 --seed 1 --stall 10 --no-artifacts "${captures[@]}"
same sim,bits=512,depth=1 replay --nic rtl --dir both --speed 50 --seed 1 --stall 10 --no-artifacts "${captures[@]}"
same sim fuzz --runs 100 --seed 3 --variant speed --no-artifacts
same sim run --nic rtl --no-artifacts scenarios/library/tutorial.yaml
same sim blocks --runs 1 rss csum
echo "emulation: all digests are equal"
