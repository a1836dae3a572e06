#!/usr/bin/env bash
# Compares plays through emulation shells with plays without: the digests must be equal. All shipped captures, random
# programs on one and two ports, the tutorial, blocks. Prints a line for each comparison.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=bin/nictwin

# digest ARGUMENTS...: of a command
digest() {
  "$bin" "$@" --json | grep -oE '"digest":"[0-9a-f]+"' | head -1
}

# same LINK ARGUMENTS...: compares a command with and without the link
same() {
  local link=$1 plain linked begin=$SECONDS
  shift
  plain=$(digest "$@")
  linked=$(digest "$@" --link "$link")
  if [ "$plain" != "$linked" ]; then
    echo "differs through --link $link: nictwin $*: $linked, want $plain" >&2
    exit 1
  fi
  echo "same through --link $link: nictwin $(tr '\n' ' ' <<<"${*:1:8}"): $plain, $((SECONDS - begin)) s"
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
