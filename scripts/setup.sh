#!/usr/bin/env bash
# Installs what is missing on Debian 12: Verilator and compilers, tshark for the format tests; then the Go modules.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo "setup: Go is not installed; nictwin needs the version named in go.mod or newer" >&2
  exit 1
fi

declare -A package=([verilator]=verilator [g++]=g++ [clang++]=clang [tshark]=tshark)
missing=()
for tool in verilator g++ clang++ tshark; do
  command -v "$tool" >/dev/null || missing+=("${package[$tool]}")
done
# A tuned build needs the compiler's profile run-time and llvm-profdata, of the version of clang++ (14 on Debian 12).
clang=14
if command -v clang++ >/dev/null; then clang=$(clang++ -dumpversion); clang=${clang%%.*}; fi
[ -e "/usr/lib/llvm-$clang/bin/llvm-profdata" ] || missing+=("llvm-$clang")
compgen -G "/usr/lib/llvm-$clang/lib/clang/*/lib/linux/libclang_rt.profile-*.a" >/dev/null || missing+=("libclang-rt-$clang-dev")
[ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev) # waveforms are compressed

if ((${#missing[@]})); then
  echo "setup: installing ${missing[*]}" >&2
  sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: not root and no sudo; run: apt-get install ${missing[*]}" >&2; exit 1; }
    sudo=(sudo)
  fi
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update -q && \
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}" >&2
    exit 1
  fi
  rm -f "$log"
fi

go mod download
